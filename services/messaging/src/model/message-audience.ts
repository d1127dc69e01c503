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
 * channel who can see it there. In an open channel also users who have it without a subscription.
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
 * The subscribers of a channel and, if it is open, others who have one of these messages and can read it: users who
 * flagged it, mentioned bots, and users who received it here or in another channel before they left or it was moved.
 */
async function withHolders(work: Work, channel: PostingRules, messageIds: readonly number[]): Promise<IdSet> {
  const { realmId } = work;
  if (channel.is_private) return channel.subscribers;
  const ids = sql.array([...messageIds], 'int8');
  const rows = await work.any(sql.type(z.object({ user_id: z.number() }))`
    WITH m AS MATERIALIZED (
        SELECT id, sent_channel_id, mentioned_ids FROM messaging.message WHERE realm_id = ${realmId} AND id = ANY(${ids})),
      s AS (SELECT sent_channel_id AS channel_id, min(id) AS first, array_agg(id ORDER BY id) AS numbers FROM m GROUP BY 1)
    SELECT user_id FROM messaging.flag WHERE realm_id = ${realmId} AND message_id = ANY(${ids})
    UNION SELECT unnest(mentioned_ids) FROM m
    UNION SELECT p.user_id FROM s, LATERAL (
      SELECT * FROM messaging.subscription_period WHERE realm_id = ${realmId} AND channel_id = s.channel_id AND to_id > s.first
      UNION ALL SELECT * FROM messaging.subscription_period
      WHERE realm_id = ${realmId} AND channel_id = s.channel_id AND to_id IS NULL AND s.channel_id <> ${channel.channel_id}) p
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
