import {
  type ChannelValue,
  channelChange,
  type Form,
  type LogEvent,
  type PlainChannelProperty,
} from '@natter/contracts';
import type { Executor, Work } from '@natter/database';
import { sql } from '@natter/database';
import { z } from 'zod';
import { type ToUsers, to } from './audience.ts';
import { contextOf, toChannel } from './channel-object.ts';
import type { ChannelRow } from './channel-row.ts';
import type { Directory } from './directory/directory.ts';
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

/**
 * Above this number of ids, subscribers of large channels are omitted from the event; clients get them with a fresh
 * register.
 */
const maxListedIds = 50_000;
const smallChannel = 250;

/** Emits channels that appear to users, and then their subscribers as if the users subscribed now. */
export async function channelsAppear(
  work: Work,
  directory: Directory,
  revealed: readonly Revealed[],
  withSubscribers: boolean,
): Promise<void> {
  if (revealed.length === 0) return;
  const ids = revealed.reduce((sum, { channel }) => sum + channel.subscriber_count, 0);
  const listed = withSubscribers
    ? revealed.filter(({ channel }) => ids <= maxListedIds || channel.subscriber_count < smallChannel)
    : [];
  const context = contextOf(directory);
  const keyOf = keysOfReceivers();
  for (const group of grouped(revealed, keyOf))
    work.emit({
      type: 'stream',
      op: 'create',
      body: {
        streams: group.map(({ channel }) => toChannel(channel, context)),
      },
      audience: to(group[0]?.to ?? []),
      ...formsOf(group[0]?.channel ?? { is_archived: false }),
    });
  const subscribers = await subscribersOf(
    work,
    listed.map(({ channel }) => channel.id),
  );
  const withPeers = listed.map((one) => {
    const userIds = [...(subscribers.get(one.channel.id) ?? [])].filter((id) => directory.isActive(id));
    return { ...one, userIds };
  });
  for (const group of grouped(withPeers, (one) => `${keyOf(one)} ${one.userIds.join()}`)) {
    const [first] = group;
    if (!first || first.userIds.length === 0) continue;
    const of = group.map(({ channel }) => channel);
    work.emit(peersChanged('peer_add', of, first.userIds, to(first.to)));
  }
}

/** Equal for channels that one event can announce. The text of each list of receivers is made once. */
function keysOfReceivers(): (revealed: Revealed) => string {
  const texts = new Map<readonly number[], string>();
  return ({ channel, to: receivers }) => {
    const text = texts.get(receivers) ?? receivers.join();
    texts.set(receivers, text);
    return `${channel.is_archived} ${text}`;
  };
}

/** Emits the deletion of channels that users can no longer see. */
export function channelsVanish(work: Work, hidden: readonly Revealed[]): void {
  for (const group of grouped(hidden, keysOfReceivers()))
    work.emit({
      ...channelsGone(
        group.map(({ channel }) => channel.id),
        group[0]?.to ?? [],
      ),
      ...formsOf(group[0]?.channel ?? { is_archived: false }),
    });
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
  channels: readonly ChannelRow[],
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
