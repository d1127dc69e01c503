import { type Audience, hasId, type IdSet, idSet, idsOf, type PostingRules, roles, withIds } from '@natter/contracts';
import { appliedNumber, sql, VersionsChanged, type Work } from '@natter/database';
import { z } from 'zod';
import { channelVersions } from './channel-access.ts';
import { type LatePeriod, latePeriods } from './late-subscriptions.ts';
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
  await requireApplied(work, channel);
  return { users: idSet(await whoSees(work, work.realmId, messageIds, idsOf(channel.subscribers))) };
}

/**
 * Copies of channels of whose subscribers the periods contain all changes that matter here. A later change of subscribers makes
 * another copy.
 */
const settled = new WeakSet<PostingRules>();

/**
 * Throws `VersionsChanged` if the periods lack a subscription that this copy of the channel contains: users who were just
 * subscribed have received messages since then.
 */
async function requireApplied(work: Work, channel: PostingRules): Promise<void> {
  if (settled.has(channel)) return;
  const matters = {
    'subscription/add': ({ channels }: WaitingEvent) => channels?.includes(channel.channel_id) ?? false,
  };
  if (await isWaiting(work, work.realmId, { consumer: 'periods', types: ['subscription'], matters }))
    throw new VersionsChanged(`subscribers of channel ${channel.channel_id}`, 'row');
  settled.add(channel);
}

/** The user who makes the change receives its event even without a subscription. */
export const withActor = (audience: Audience, userId: number): Audience =>
  audience === 'realm' || hasId(audience.users, userId) ? audience : { users: withIds(audience.users, [userId]) };

const heldRow = z.object({
  user_ids: z.array(z.number()),
  /** The guests among them. */
  guest_ids: z.array(z.number()),
  /** Other channels to which some of the messages were sent. */
  sent_in: z.array(z.number()),
  roles_applied: z.number(),
  periods_applied: z.number(),
});
type Held = z.infer<typeof heldRow>;

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
  if (channel.is_private) return channel.subscribers;
  const held = await holdersOf(work, channel, messageIds);
  const late = await lateOthers(work, channel, held);
  const { user_ids, guest_ids } = late.length === 0 ? held : await holdersOf(work, channel, messageIds, late);
  const others = user_ids.filter((id) => !hasId(channel.subscribers, id));
  if (others.length === 0) return channel.subscribers;
  if (channel.is_web_public) return withIds(channel.subscribers, others);
  if (comparesRoles) await requireRoles(work, others, held.roles_applied);
  const guests = new Set(guest_ids);
  return withIds(
    channel.subscribers,
    others.filter((id) => !guests.has(id)),
  );
}

/** Users who have one of these messages. Subscribers of the channel are among them only for other reasons. */
async function holdersOf(
  work: Work,
  { channel_id }: PostingRules,
  messageIds: readonly number[],
  late: readonly LatePeriod[] = [],
): Promise<Held> {
  const { realmId } = work;
  const ids = sql.array([...messageIds], 'int8');
  return work.one(sql.type(heldRow)`
    WITH m AS MATERIALIZED (
        SELECT id, sent_channel_id, mentioned_ids FROM messaging.message WHERE realm_id = ${realmId} AND id = ANY(${ids})),
      s AS (SELECT sent_channel_id AS channel_id, min(id) AS first, array_agg(id ORDER BY id) AS numbers FROM m GROUP BY 1)
    SELECT coalesce(array_agg(h.user_id), '{}') AS user_ids,
      coalesce(array_agg(h.user_id) FILTER (WHERE EXISTS (SELECT FROM messaging.standing g
        WHERE g.realm_id = ${realmId} AND g.user_id = h.user_id AND g.role = ${roles.guest})), '{}') AS guest_ids,
      ARRAY(SELECT channel_id FROM s WHERE channel_id <> ${channel_id}) AS sent_in,
      ${rolesApplied(realmId)} AS roles_applied, ${appliedNumber('messaging', realmId, 'periods')} AS periods_applied
    FROM (
      SELECT user_id FROM messaging.flag WHERE realm_id = ${realmId} AND message_id = ANY(${ids})
      UNION SELECT unnest(mentioned_ids) FROM m
      UNION SELECT p.user_id FROM s, LATERAL (
        SELECT * FROM messaging.subscription_period WHERE realm_id = ${realmId} AND channel_id = s.channel_id AND to_id > s.first
        UNION ALL SELECT * FROM messaging.subscription_period
        WHERE realm_id = ${realmId} AND channel_id = s.channel_id AND to_id IS NULL AND s.channel_id <> ${channel_id}) p
      WHERE ${holdsAny} ${late.length === 0 ? sql.fragment`` : lateHolders(realmId, late)}) h`);
}

const lateHolders = (realmId: number, late: readonly LatePeriod[]) => sql.fragment`
  UNION SELECT p.user_id FROM s JOIN (
    SELECT l.user_id, l.channel_id, l.to_id, coalesce(l.from_id, (SELECT min(o.from_id) FROM messaging.subscription_period o
      WHERE o.realm_id = ${realmId} AND o.user_id = l.user_id AND o.channel_id = l.channel_id AND o.to_id IS NULL)) AS from_id
    FROM ${sql.unnest(
      late.map(({ user_id, channel_id, from_id, to_id }) => [user_id, channel_id, from_id, to_id]),
      ['int4', 'int4', 'int8', 'int8'],
    )} l (user_id, channel_id, from_id, to_id)) p ON p.channel_id = s.channel_id WHERE ${holdsAny}`;

/**
 * The late periods of users who are not subscribed to the channel: in the channel, and in others to which some of the messages were
 * sent. Throws `VersionsChanged` if too many events wait.
 */
async function lateOthers(
  work: Work,
  channel: PostingRules,
  { sent_in, periods_applied }: Held,
): Promise<readonly LatePeriod[]> {
  const channelIds = settled.has(channel) ? sent_in : [channel.channel_id, ...sent_in];
  if (channelIds.length === 0) return [];
  const late = await latePeriods(work, work.realmId, channelIds, { applied: periods_applied });
  const others = late.filter(({ user_id }) => !hasId(channel.subscribers, user_id));
  if (others.every(({ channel_id }) => channel_id !== channel.channel_id)) settled.add(channel);
  return others;
}

/** Locks the message in the state on which the decision was made: neither deleted nor moved. */
export async function holdMessage(work: Work, message: ReadableMessage): Promise<void> {
  if (message.channel) work.expectVersions(channelVersions(message.channel));
  const row = await work.maybeOne(sql.type(z.object({ channel_id: z.number().nullable() }))`
    SELECT channel_id FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${message.id} FOR SHARE`);
  if (!row || row.channel_id !== message.channel_id) throw new VersionsChanged(`message ${message.id}`, 'row');
}
