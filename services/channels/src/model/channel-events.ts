import { createHash } from 'node:crypto';
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
import { announce, hasEventRoom } from './event-room.ts';
import { grouped, portions } from './grouped.ts';

const capability = 'archived_channels';
/** For events about archived channels, which only clients that support them receive. */
export const onlyIfArchivedIsKnown: Form[] = [{ capability, is: false, patch: null }];
export const onlyIfArchivedIsUnknown: Form[] = [{ capability, is: true, patch: null }];

export const formsOf = (channel: { is_archived: boolean }): { forms?: Form[] } =>
  channel.is_archived ? { forms: onlyIfArchivedIsKnown } : {};

/** A channel and the users to whom it appears or disappears. */
export interface Revealed {
  channel: ChannelRow;
  /** All the users. They are not kept, because there may be thousands for each of thousands of channels. */
  receivers: () => readonly number[];
  /** Equal for the same receivers. */
  key: string;
}

/** The data of a channel that appeared. They are kept in memory until its subscribers are announced. */
export interface Appeared {
  channel: Pick<ChannelRow, 'id' | 'is_archived' | 'subscriber_count'>;
  audience: ToUsers;
  /** Equal for channels that one event can announce. */
  key: string;
}

/** Emits channels that appear to users, and returns those that it emitted. `announceSubscribersOf` continues with them. */
export async function channelsAppear(
  work: Work,
  directory: Directory,
  revealed: readonly Revealed[],
): Promise<Appeared[]> {
  const context = contextOf(directory);
  const appeared: Appeared[] = [];
  const takeTurns = inTurns();
  for (const group of grouped(revealed, keyOfEvent)) {
    await takeTurns();
    const [first] = group;
    if (!first || !hasEventRoom(work, 'low')) break;
    const audience = to(first.receivers());
    announce(work, {
      type: 'stream',
      op: 'create',
      body: { streams: group.map(({ channel }) => toChannel(channel, context)) },
      audience,
      isForClientsOnly: true,
      ...formsOf(first.channel),
    });
    const key = createHash('sha256').update(keyOfEvent(first)).digest('base64');
    for (const { channel } of group) {
      const { id, is_archived, subscriber_count } = channel;
      appeared.push({ channel: { id, is_archived, subscriber_count }, audience, key });
    }
  }
  return appeared;
}

/** Equal for channels that one event can announce. */
const keyOfEvent = ({ channel, key }: Revealed): string => `${channel.is_archived} ${key}`;

/** Emits the subscribers of channels that appeared, as if the users to whom they appeared subscribed now. */
export async function announceSubscribersOf(
  work: Work,
  directory: Directory,
  appeared: readonly Appeared[],
): Promise<void> {
  const takeTurns = inTurns();
  for (const some of portions(listedOf(appeared), channelsAtOnce, () => 1)) {
    if (!hasEventRoom(work)) return;
    const subscribers = await subscribersOf(
      work,
      some.map(({ channel }) => channel.id),
    );
    const withPeers = some.map((one) => {
      const userIds = [...(subscribers.get(one.channel.id) ?? [])].filter((id) => directory.isActive(id));
      return { ...one, userIds };
    });
    for (const group of grouped(withPeers, ({ key, userIds }) => `${key} ${userIds.join()}`)) {
      await takeTurns();
      const [first] = group;
      if (!first || first.userIds.length === 0) continue;
      if (!hasEventRoom(work)) return;
      const channels = group.map(({ channel }) => channel);
      announce(work, peersChanged('peer_add', channels, first.userIds, first.audience));
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

/** Emits the deletion of channels that users can no longer see. */
export async function channelsVanish(work: Work, hidden: readonly Revealed[]): Promise<void> {
  const takeTurns = inTurns();
  for (const group of grouped(hidden, keyOfEvent)) {
    await takeTurns();
    const [first] = group;
    if (!first || !hasEventRoom(work)) return;
    const ids = group.map(({ channel }) => channel.id);
    announce(work, { ...channelsGone(ids, first.receivers()), ...formsOf(first.channel) });
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
