import type { Form, LogEvent } from '@natter/contracts';
import type { Executor, Work } from '@natter/database';
import { sql } from '@natter/database';
import { z } from 'zod';
import { to } from './audience.ts';
import { type SystemGroups, toChannel } from './channel-object.ts';
import type { ChannelRow } from './channel-row.ts';
import type { Directory } from './directory/directory.ts';
import { grouped } from './grouped.ts';

const capability = 'archived_channels';
/** Of an archived channel only those clients hear that know what that is. */
export const onlyIfArchivedIsKnown: Form[] = [{ capability, is: false, patch: null }];
export const onlyIfArchivedIsUnknown: Form[] = [{ capability, is: true, patch: null }];

export const formsOf = (channel: { is_archived: boolean }): { forms?: Form[] } =>
  channel.is_archived ? { forms: onlyIfArchivedIsKnown } : {};

/** A channel and the people to whom it appears, or for whom it is gone. */
export interface Revealed {
  channel: ChannelRow;
  to: readonly number[];
}

/** Above so many ids the subscribers of large channels are not told to whom a channel appears: a fresh register tells them. */
const maxIdsTold = 50_000;
const smallChannel = 250;

/** The channels as they appear to somebody, and then, as if they subscribed now, their subscribers. */
export async function channelsAppear(
  work: Work,
  directory: Directory,
  systemGroups: SystemGroups,
  revealed: readonly Revealed[],
  withSubscribers: boolean,
): Promise<void> {
  if (revealed.length === 0) return;
  const ids = revealed.reduce((sum, { channel }) => sum + channel.subscriber_count, 0);
  const told = withSubscribers
    ? revealed.filter(({ channel }) => ids <= maxIdsTold || channel.subscriber_count < smallChannel)
    : [];
  for (const group of grouped(revealed, ({ channel, to }) => `${channel.is_archived} ${to.join()}`))
    work.emit({
      type: 'stream',
      op: 'create',
      body: {
        streams: group.map(({ channel }) => toChannel(channel, systemGroups)),
      },
      audience: to(group[0]?.to ?? []),
      ...formsOf(group[0]?.channel ?? { is_archived: false }),
    });
  const subscribers = await subscribersOf(
    work,
    told.map(({ channel }) => channel.id),
  );
  for (const { channel, to: receivers } of told) {
    const userIds = [...(subscribers.get(channel.id) ?? [])].filter((id) => directory.isActive(id));
    if (userIds.length > 0) work.emit(peersChanged('peer_add', [channel], userIds, receivers));
  }
}

/** The channels as they are gone for somebody who may know them no more. */
export function channelsVanish(work: Work, hidden: readonly Revealed[]): void {
  for (const group of grouped(hidden, ({ channel, to }) => `${channel.is_archived} ${to.join()}`))
    work.emit({
      ...channelsGone(group.map(({ channel }) => channel.id)),
      audience: to(group[0]?.to ?? []),
      ...formsOf(group[0]?.channel ?? { is_archived: false }),
    });
}

export const channelsGone = (channelIds: number[]): Pick<LogEvent, 'type' | 'op' | 'body'> => ({
  type: 'stream',
  op: 'delete',
  body: { streams: channelIds.map((stream_id) => ({ stream_id })), stream_ids: channelIds },
});

export const peersChanged = (
  op: 'peer_add' | 'peer_remove',
  channels: readonly ChannelRow[],
  userIds: readonly number[],
  receivers: Iterable<number>,
): LogEvent => ({
  type: 'subscription',
  op,
  body: { stream_ids: channels.map(({ id }) => id), user_ids: [...userIds].sort((a, b) => a - b) },
  audience: to(receivers),
  ...formsOf(channels[0] ?? { is_archived: false }),
});

/** One property of a channel, to whoever may know it. */
export const channelUpdated = (
  channel: Pick<ChannelRow, 'id' | 'name' | 'is_archived'>,
  property: string,
  value: unknown,
  receivers: Iterable<number>,
): LogEvent => ({
  type: 'stream',
  op: 'update',
  body: { property, value, stream_id: channel.id, name: channel.name },
  audience: to(receivers),
  ...formsOf(channel),
});

/** The number of subscribers is moved by this alone: clients need not count peers. */
export const countChanged = (channel: ChannelRow, receivers: Iterable<number>): LogEvent =>
  channelUpdated(channel, 'subscriber_count', channel.subscriber_count, receivers);

const subscribersRow = z.object({ channel_id: z.number(), users: z.array(z.number()) });

/** Who is subscribed, deactivated people included, in the order of ids. */
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
