import { behindSnapshot, eventQueueOperations } from '@natter/contracts';
import { type Executor, inSnapshot } from '@natter/database';
import { Block, type Handlers, handle, listOf, toJson } from '@natter/service-kit';
import { channelTexts, contextOf } from '../model/channel-object.ts';
import type { Service } from '../model/deciding.ts';
import { defaultChannels, defaultGroups } from '../model/default-events.ts';
import { isAdditionBehind } from '../model/directory/behind.ts';
import { foldersOf, toFolder } from '../model/folder-row.ts';
import { subscriptionKinds } from '../model/subscription-kinds.ts';
import { visibleChannels } from '../model/visible-channels.ts';

/** This service's section of a register, from its own tables at one point in time. The user may be a spectator. */
export function snapshotHandlers({ owner, directories, noteSeen }: Service): Handlers {
  return [
    handle(eventQueueOperations.snapshotChannels, ({ meta }, asked) =>
      inSnapshot(owner.database, asked.snapshot, async (executor) => {
        const { realmId } = meta;
        const { user_id: userId, types } = asked;
        const wants = (type: string): boolean => types === null || types.includes(type);
        const directory = await directories.read(executor, realmId);
        if (directory.people.has(userId)) noteSeen(realmId, userId);
        // Nothing is announced to a new user when the projection has caught up.
        else if (userId !== 0 && (await isAdditionBehind(executor, realmId, userId))) throw behindSnapshot();
        // Read before other statements, because the directory may change meanwhile.
        const holder = directory.holder(userId);
        const isNonGuest = holder !== undefined && holder.role !== 600;
        const state: Record<string, unknown> = {};
        if (wants('subscription') || wants('stream')) {
          const withArchived = asked.capabilities.archived_channels ?? false;
          const visible = await visibleChannels(executor, { realmId, userId }, { holder, withArchived });
          const textOf = channelTexts(contextOf(directory));
          if (wants('stream')) state.streams = listOf(blocksOf(visible.map(({ channel }) => textOf(channel))));
          if (wants('subscription'))
            Object.assign(
              state,
              await subscriptionKinds(executor, { realmId, userId, directory }, visible, {
                subscribers: asked.include_subscribers,
                withNulls: asked.capabilities.notification_settings_null ?? false,
              }),
            );
        }
        if (wants('default_streams'))
          state.realm_default_streams = isNonGuest ? await defaultChannels(executor, realmId) : [];
        if (wants('default_stream_groups'))
          state.realm_default_stream_groups = isNonGuest ? await defaultGroups(executor, realmId) : [];
        if (wants('channel_folders')) {
          const folders = await foldersOf(executor, realmId, true);
          const shown = userId === 0 ? await foldersForSpectators(executor, realmId) : undefined;
          state.channel_folders = folders.filter(({ id }) => shown?.has(id) ?? true).map(toFolder);
        }
        return toJson(state);
      }),
    ),
  ];
}

/** The folders of channels that spectators see; the others are internal. */
async function foldersForSpectators(executor: Executor, realmId: number): Promise<ReadonlySet<number | null>> {
  const visible = await visibleChannels(executor, { realmId, userId: 0 }, { holder: undefined, withArchived: false });
  return new Set(visible.map(({ channel }) => channel.folder_id));
}

/** Most users see the same channels, so gateways have these blocks already. */
const blocksOf = (texts: readonly string[]): Block[] =>
  Array.from(
    { length: Math.ceil(texts.length / blockSize) },
    (_, index) => new Block(texts.slice(index * blockSize, (index + 1) * blockSize).join(',')),
  );
const blockSize = 128;
