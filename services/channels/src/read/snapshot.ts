import { eventQueueOperations } from '@natter/contracts';
import { type Executor, inSnapshot } from '@natter/database';
import { Block, type Handlers, handle, JsonPieces, listOf, toJson } from '@natter/service-kit';
import { channelTexts } from '../channel-object.ts';
import type { Service } from '../deciding.ts';
import { defaultChannels, defaultGroups } from '../default-channels/default-events.ts';
import { type Directory, systemGroupsOf } from '../directory/directory.ts';
import { foldersOf, toFolder } from '../folder/folder-row.ts';
import { toPersonalFields, withoutNulls } from '../subscription/personal.ts';
import { type SubscribersChoice, subscriberLists } from './subscriber-lists.ts';
import { type Visible, visibleChannels } from './visible-channels.ts';

/** This service's part of a register, from its own tables at one point in time. Its user may be a spectator. */
export function snapshotHandlers({ owner, directories, noteSeen }: Service): Handlers {
  return [
    handle(eventQueueOperations.snapshotChannels, ({ meta }, asked) =>
      inSnapshot(owner.database, asked.snapshot, async (executor) => {
        const { realmId } = meta;
        const { user_id: userId, types } = asked;
        const wants = (type: string): boolean => types === null || types.includes(type);
        const directory = await directories.read(executor, realmId);
        if (directory.people.has(userId)) noteSeen(realmId, userId);
        // Taken before other statements: the directory itself may move on meanwhile.
        const holder = directory.holder(userId);
        const isNonGuest = holder !== undefined && holder.role !== 600;
        const state: Record<string, unknown> = {};
        if (wants('subscription') || wants('stream')) {
          const visible = await visibleChannels(
            executor,
            realmId,
            userId,
            holder,
            asked.capabilities.archived_channels ?? false,
          );
          const textOf = channelTexts(systemGroupsOf(directory));
          if (wants('stream')) state.streams = listOf(blocksOf(visible.map(({ channel }) => textOf(channel))));
          if (wants('subscription'))
            Object.assign(
              state,
              await subscriptionKinds(executor, realmId, userId, directory, visible, asked.include_subscribers, {
                withNulls: asked.capabilities.notification_settings_null ?? false,
              }),
            );
        }
        if (wants('default_streams'))
          state.realm_default_streams = isNonGuest ? await defaultChannels(executor, realmId) : [];
        if (wants('default_stream_groups'))
          state.realm_default_stream_groups = isNonGuest ? await defaultGroups(executor, realmId) : [];
        if (wants('channel_folders')) state.channel_folders = (await foldersOf(executor, realmId, true)).map(toFolder);
        return toJson(state);
      }),
    ),
  ];
}

export interface SubscriptionKinds {
  subscriptions: JsonPieces;
  unsubscribed: JsonPieces;
  never_subscribed: JsonPieces;
}

/** Channels by how somebody stands to them, each with what clients show of it. */
export async function subscriptionKinds(
  executor: Executor,
  realmId: number,
  userId: number,
  directory: Directory,
  visible: readonly Visible[],
  choice: SubscribersChoice,
  { withNulls }: { withNulls: boolean },
): Promise<SubscriptionKinds> {
  const person = directory.people.get(userId);
  const textOf = channelTexts(systemGroupsOf(directory));
  const lists = await subscriberLists(
    executor,
    realmId,
    visible.map(({ channel }) => channel),
    choice,
    userId,
  );
  const kinds: Record<keyof SubscriptionKinds, string[]> = {
    subscriptions: [],
    unsubscribed: [],
    never_subscribed: [],
  };
  for (const { channel, isSubscribed, personal } of visible) {
    const shared = [textOf(channel), JSON.stringify(lists(channel.id))];
    if (!personal) {
      kinds.never_subscribed.push(joinTexts(shared));
      continue;
    }
    const told = withNulls ? personal : { ...personal, ...withoutNulls(personal, person) };
    const text = joinTexts([...shared, JSON.stringify(toPersonalFields(told))]);
    (isSubscribed ? kinds.subscriptions : kinds.unsubscribed).push(text);
  }
  return {
    subscriptions: listOfTexts(kinds.subscriptions),
    unsubscribed: listOfTexts(kinds.unsubscribed),
    never_subscribed: listOfTexts(kinds.never_subscribed),
  };
}

/** Most people see the same channels: gateways have these blocks already. */
const blocksOf = (texts: readonly string[]): Block[] =>
  Array.from(
    { length: Math.ceil(texts.length / blockSize) },
    (_, index) => new Block(texts.slice(index * blockSize, (index + 1) * blockSize).join(',')),
  );
const blockSize = 128;

const listOfTexts = (texts: readonly string[]): JsonPieces => new JsonPieces([Buffer.from(`[${texts.join(',')}]`)]);

/** One object of the members of several, which have no name in common. */
const joinTexts = (objects: readonly string[]): string =>
  `{${objects
    .map((object) => object.slice(1, -1))
    .filter((members) => members !== '')
    .join(',')}}`;
