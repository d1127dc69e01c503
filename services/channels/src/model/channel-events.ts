import {
  type ChannelValue,
  channelChange,
  type Form,
  type LogEvent,
  type PlainChannelProperty,
} from '@natter/contracts';
import { type Executor, inTurns, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { type ToUsers, to } from './audience.ts';
import { contextOf, toChannel } from './channel-object.ts';
import { channelsAtOnce } from './channel-portions.ts';
import type { ChannelRow } from './channel-row.ts';
import type { Directory } from './directory/directory.ts';
import { hasEventRoom } from './event-room.ts';
import { grouped } from './grouped.ts';

const capability = 'archived_channels';
/** For events about archived channels, which only clients that support them receive. */
export const onlyIfArchivedIsKnown: Form[] = [{ capability, is: false, patch: null }];
export const onlyIfArchivedIsUnknown: Form[] = [{ capability, is: true, patch: null }];

export const formsOf = (channel: { is_archived: boolean }): { forms?: Form[] } =>
  channel.is_archived ? { forms: onlyIfArchivedIsKnown } : {};

/** A channel and the users to whom it appears or disappears. */
export interface Revealed {
  channel: ChannelRow;
  to: readonly number[];
}

/** The data of a channel that appeared. They are kept in memory until its subscribers are announced. */
export interface Appeared {
  channel: Pick<ChannelRow, 'id' | 'is_archived' | 'subscriber_count'>;
  to: readonly number[];
}

/** Emits channels that appear to users, and returns those that it emitted. `announceSubscribersOf` continues with them. */
export function channelsAppear(work: Work, directory: Directory, revealed: readonly Revealed[]): Appeared[] {
  const context = contextOf(directory);
  const appeared: Appeared[] = [];
  for (const group of grouped(revealed, keysOfReceivers())) {
    const [first] = group;
    if (!first || !hasEventRoom(work, 'low')) break;
    work.emit({
      type: 'stream',
      op: 'create',
      body: { streams: group.map(({ channel }) => toChannel(channel, context)) },
      audience: to(first.to),
      isForClientsOnly: true,
      ...formsOf(first.channel),
    });
    for (const { channel, to } of group) {
      const { id, is_archived, subscriber_count } = channel;
      appeared.push({ channel: { id, is_archived, subscriber_count }, to });
    }
  }
  return appeared;
}

/** Emits the subscribers of channels that appeared, as if the users to whom they appeared subscribed now. */
export async function announceSubscribersOf(
  work: Work,
  directory: Directory,
  appeared: readonly Appeared[],
): Promise<void> {
  const listed = listedOf(appeared);
  const keyOf = keysOfReceivers();
  const takeTurns = inTurns();
  for (let at = 0; at < listed.length; at += channelsAtOnce) {
    const some = listed.slice(at, at + channelsAtOnce);
    const subscribers = await subscribersOf(
      work,
      some.map(({ channel }) => channel.id),
    );
    const withPeers = some.map((one) => {
      const userIds = [...(subscribers.get(one.channel.id) ?? [])].filter((id) => directory.isActive(id));
      return { ...one, userIds };
    });
    for (const group of grouped(withPeers, (one) => `${keyOf(one)} ${one.userIds.join()}`)) {
      await takeTurns();
      const [first] = group;
      if (!first || first.userIds.length === 0) continue;
      if (!hasEventRoom(work)) return;
      const channels = group.map(({ channel }) => channel);
      work.emit(peersChanged('peer_add', channels, first.userIds, to(first.to)));
    }
  }
}

/**
 * If all channels have more subscribers than `all`, those of large channels are omitted, and of the others those of the oldest
 * channels above `ofSmall`; clients get them with a fresh register.
 */
const maxListedIds = { all: 50_000, ofSmall: 250_000 };
const smallChannel = 250;

function listedOf(appeared: readonly Appeared[]): readonly Appeared[] {
  const ids = appeared.reduce((sum, { channel }) => sum + channel.subscriber_count, 0);
  if (ids <= maxListedIds.all) return appeared;
  const small = appeared.filter(({ channel }) => channel.subscriber_count < smallChannel);
  let listed = 0;
  const first = small.findLastIndex(({ channel }) => {
    listed += channel.subscriber_count;
    return listed > maxListedIds.ofSmall;
  });
  return small.slice(first + 1);
}

/** Equal for channels that one event can announce. The text of each list of receivers is made once. */
function keysOfReceivers(): (revealed: Appeared) => string {
  const texts = new Map<readonly number[], string>();
  return ({ channel, to: receivers }) => {
    const text = texts.get(receivers) ?? receivers.join();
    texts.set(receivers, text);
    return `${channel.is_archived} ${text}`;
  };
}

/** Emits the deletion of channels that users can no longer see. */
export function channelsVanish(work: Work, hidden: readonly Revealed[]): void {
  for (const group of grouped(hidden, keysOfReceivers())) {
    if (!hasEventRoom(work)) return;
    work.emit({
      ...channelsGone(
        group.map(({ channel }) => channel.id),
        group[0]?.to ?? [],
      ),
      ...formsOf(group[0]?.channel ?? { is_archived: false }),
    });
  }
}

export const channelsGone = (
  channelIds: readonly number[],
  receivers: Iterable<number>,
): LogEvent<'stream/delete'> => ({
  type: 'stream',
  op: 'delete',
  body: { streams: channelIds.map((stream_id) => ({ stream_id })), stream_ids: channelIds },
  audience: to(receivers),
});

export const peersChanged = (
  op: 'peer_add' | 'peer_remove',
  channels: readonly Pick<ChannelRow, 'id' | 'is_archived'>[],
  userIds: readonly number[],
  audience: ToUsers,
): LogEvent => ({
  type: 'subscription',
  op,
  body: { stream_ids: channels.map(({ id }) => id), user_ids: [...userIds].sort((a, b) => a - b) },
  audience,
  ...formsOf(channels[0] ?? { is_archived: false }),
});

/** Emits one property of a channel to all users who can see it. */
export const channelUpdated = <P extends PlainChannelProperty>(
  channel: Pick<ChannelRow, 'id' | 'name' | 'is_archived'>,
  property: P,
  value: ChannelValue<P>,
  receivers: Iterable<number>,
): LogEvent<'stream/update'> => ({
  type: 'stream',
  op: 'update',
  body: channelChange({ stream_id: channel.id, name: channel.name }, property, value),
  audience: to(receivers),
  ...formsOf(channel),
});

/** Only this event changes the number of subscribers; clients need not count peers. */
export const countChanged = (channel: ChannelRow, audience: ToUsers): LogEvent => ({
  ...channelUpdated(channel, 'subscriber_count', channel.subscriber_count, []),
  audience,
});

const subscribersRow = z.object({ channel_id: z.number(), users: z.array(z.number()) });

/** Subscribers by channel, including deactivated users, in the order of ids. */
export async function subscribersOf(
  executor: Executor,
  channelIds: readonly number[],
): Promise<Map<number, Set<number>>> {
  if (channelIds.length === 0) return new Map();
  const rows = await executor.any(sql.type(subscribersRow)`
    SELECT channel_id, json_agg(user_id ORDER BY user_id) AS users FROM channels.subscription
    WHERE channel_id = ANY(${sql.array([...channelIds], 'int4')}) AND is_active GROUP BY channel_id`);
  return new Map(rows.map(({ channel_id, users }) => [channel_id, new Set(users)]));
}
