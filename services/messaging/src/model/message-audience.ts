import { type Audience, hasId, type IdSet, idSet, idsOf, type PostingRules, roles, withIds } from '@natter/contracts';
import { sql, VersionsChanged, type Work } from '@natter/database';
import { z } from 'zod';
import { channelVersions } from './channel-access.ts';
import type { ReadableMessage } from './message-access.ts';
import { requireRoles, rolesApplied } from './roles.ts';
import { hasProtectedHistory, holdsAny, whoSees } from './subscription-periods.ts';
import { isWaiting, type WaitingEvent } from './waiting-events.ts';

/**
 * The receivers of changes to a message and to others changed with it: its participants, or the subscribers of its
 * channel who can see it there. In an open channel also users who have it without a subscription. `comparesRoles`: whether
 * the unit fails if one of these becomes a guest before the commit.
 */
export async function audienceOf(
  work: Work,
  { channel, recipient_ids }: Pick<ReadableMessage, 'channel' | 'recipient_ids'>,
  messageIds: readonly number[],
  { comparesRoles = true } = {},
): Promise<Audience> {
  if (!channel) return { users: idSet(recipient_ids ?? []) };
  if (!hasProtectedHistory(channel)) return { users: await withHolders(work, channel, messageIds, comparesRoles) };
  await requireApplied(work, channel, 'subscription/add');
  return { users: idSet(await whoSees(work, work.realmId, messageIds, idsOf(channel.subscribers))) };
}

/** Copies of channels whose subscribers are in the periods. A later change of subscribers makes another copy. */
const applied = { 'subscription/add': new WeakSet<PostingRules>(), 'subscription/remove': new WeakSet<PostingRules>() };

/**
 * Throws `VersionsChanged` if the periods lack a change of the subscribers that this copy of the channel contains. Users who
 * were just subscribed have received messages since then, and users who just left have received messages before.
 */
async function requireApplied(work: Work, channel: PostingRules, name: keyof typeof applied): Promise<void> {
  if (applied[name].has(channel)) return;
  const matters = { [name]: ({ channels }: WaitingEvent) => channels?.includes(channel.channel_id) ?? false };
  if (await isWaiting(work, work.realmId, { consumer: 'periods', types: ['subscription'], matters }))
    throw new VersionsChanged(`subscribers of channel ${channel.channel_id}`, 'row');
  applied[name].add(channel);
}

/** The user who makes the change receives its event even without a subscription. */
export const withActor = (audience: Audience, userId: number): Audience =>
  audience === 'realm' || hasId(audience.users, userId) ? audience : { users: withIds(audience.users, [userId]) };

const holderRow = z.object({ user_id: z.number(), is_guest: z.boolean(), roles_applied: z.number() });

/**
 * The subscribers of a channel and, if it is open, others who have one of these messages and can read it: users who
 * flagged it, mentioned bots, and users who received it here or in another channel before they left or it was moved.
 */
async function withHolders(
  work: Work,
  channel: PostingRules,
  messageIds: readonly number[],
  comparesRoles: boolean,
): Promise<IdSet> {
  const { realmId } = work;
  if (channel.is_private) return channel.subscribers;
  const ids = sql.array([...messageIds], 'int8');
  await requireApplied(work, channel, 'subscription/remove');
  const rows = await work.any(sql.type(holderRow)`
    WITH m AS MATERIALIZED (
        SELECT id, sent_channel_id, mentioned_ids FROM messaging.message WHERE realm_id = ${realmId} AND id = ANY(${ids})),
      s AS (SELECT sent_channel_id AS channel_id, min(id) AS first, array_agg(id ORDER BY id) AS numbers FROM m GROUP BY 1)
    SELECT h.user_id, ${rolesApplied(realmId)} AS roles_applied, EXISTS (SELECT FROM messaging.standing g
        WHERE g.realm_id = ${realmId} AND g.user_id = h.user_id AND g.role = ${roles.guest}) AS is_guest FROM (
      SELECT user_id FROM messaging.flag WHERE realm_id = ${realmId} AND message_id = ANY(${ids})
      UNION SELECT unnest(mentioned_ids) FROM m
      UNION SELECT p.user_id FROM s, LATERAL (
        SELECT * FROM messaging.subscription_period WHERE realm_id = ${realmId} AND channel_id = s.channel_id AND to_id > s.first
        UNION ALL SELECT * FROM messaging.subscription_period
        WHERE realm_id = ${realmId} AND channel_id = s.channel_id AND to_id IS NULL AND s.channel_id <> ${channel.channel_id}) p
      WHERE ${holdsAny}) h`);
  const others = rows.filter(({ user_id }) => !hasId(channel.subscribers, user_id));
  const [first] = others;
  if (!first) return channel.subscribers;
  const isOpenToGuests = channel.is_web_public;
  if (!isOpenToGuests && comparesRoles) await requireRoles(work, others.map(idOf), first.roles_applied);
  return withIds(channel.subscribers, others.filter((one) => isOpenToGuests || !one.is_guest).map(idOf));
}

const idOf = ({ user_id }: { user_id: number }): number => user_id;

/** Locks the message in the state on which the decision was made: neither deleted nor moved. */
export async function holdMessage(work: Work, message: ReadableMessage): Promise<void> {
  if (message.channel) work.expectVersions(channelVersions(message.channel));
  const row = await work.maybeOne(sql.type(z.object({ channel_id: z.number().nullable() }))`
    SELECT channel_id FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${message.id} FOR SHARE`);
  if (!row || row.channel_id !== message.channel_id) throw new VersionsChanged(`message ${message.id}`, 'row');
}
