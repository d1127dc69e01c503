import { type Audience, hasId, type IdSet, idSet, idsOf, type PostingRules } from '@natter/contracts';
import { sql, VersionsChanged, type Work } from '@natter/database';
import { z } from 'zod';
import { channelVersions } from './channel-access.ts';
import { expectGroups } from './group-versions.ts';
import type { ReadableMessage } from './message-access.ts';
import { guestsAmong } from './roles.ts';
import { hasProtectedHistory, holdsAny, whoSees } from './subscription-periods.ts';
import { isWaiting, type WaitingEvent } from './waiting-events.ts';

/**
 * The receivers of changes to a message and to others changed with it: its participants, or the subscribers of its
 * channel who can see it there. In an open channel also users who have flags on them without a subscription.
 */
export async function audienceOf(
  work: Work,
  { channel, recipient_ids }: Pick<ReadableMessage, 'channel' | 'recipient_ids'>,
  messageIds: readonly number[],
): Promise<Audience> {
  if (!channel) return { users: idSet(recipient_ids ?? []) };
  if (!hasProtectedHistory(channel)) return { users: await withHolders(work, channel, messageIds) };
  await requireSubscribers(work, channel.channel_id);
  return { users: idSet(await whoSees(work, work.realmId, messageIds, idsOf(channel.subscribers))) };
}

/** Somebody who was just subscribed has received messages since then: the change is decided again when messaging knows it. */
async function requireSubscribers(work: Work, channelId: number): Promise<void> {
  const matters = { 'subscription/add': ({ channels }: WaitingEvent) => channels?.includes(channelId) ?? false };
  if (await isWaiting(work, work.realmId, { consumer: 'periods', types: ['subscription'], matters }))
    throw new VersionsChanged(`subscribers of channel ${channelId}`, 'row');
}

/** The user who makes the change receives its event even without a subscription. */
export const withActor = (audience: Audience, userId: number): Audience =>
  audience === 'realm' || hasId(audience.users, userId)
    ? audience
    : { users: idSet([...idsOf(audience.users), userId]) };

/**
 * The subscribers of a channel and, if it is open, users who flagged one of these messages or received one before it
 * was moved: they can read it, and their clients count it as unread. This includes former subscribers of a channel to
 * which a message was moved back.
 */
async function withHolders(work: Work, channel: PostingRules, messageIds: readonly number[]): Promise<IdSet> {
  const { realmId } = work;
  if (channel.is_private) return channel.subscribers;
  const ids = sql.array([...messageIds], 'int8');
  const rows = await work.any(sql.type(z.object({ user_id: z.number() }))`
    WITH s AS (
      SELECT m.sent_channel_id AS channel_id, array_agg(m.id ORDER BY m.id) AS numbers
      FROM messaging.message m JOIN messaging.arrival a ON a.realm_id = m.realm_id AND a.message_id = m.id
      WHERE m.realm_id = ${realmId} AND m.id = ANY(${ids}) GROUP BY 1)
    SELECT user_id FROM messaging.flag WHERE realm_id = ${realmId} AND message_id = ANY(${ids})
    UNION
    SELECT p.user_id FROM s JOIN messaging.subscription_period p ON p.realm_id = ${realmId} AND p.channel_id = s.channel_id
    WHERE ${holdsAny}`);
  const others = rows.map((row) => row.user_id).filter((id) => !hasId(channel.subscribers, id));
  if (others.length === 0) return channel.subscribers;
  if (channel.is_web_public) return idSet([...idsOf(channel.subscribers), ...others]);
  await expectGroups(work);
  const shutOut = await guestsAmong(work, realmId, others);
  return idSet([...idsOf(channel.subscribers), ...others.filter((id) => !shutOut.has(id))]);
}

/** Locks the message in the state on which the decision was made: neither deleted nor moved. */
export async function holdMessage(work: Work, message: ReadableMessage): Promise<void> {
  if (message.channel) work.expectVersions(channelVersions(message.channel));
  const row = await work.maybeOne(sql.type(z.object({ channel_id: z.number().nullable() }))`
    SELECT channel_id FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${message.id} FOR SHARE`);
  if (!row || row.channel_id !== message.channel_id) throw new VersionsChanged(`message ${message.id}`, 'row');
}
