import { sql } from '@natter/database';
import { blockSize } from './blocks.ts';
import { isWithdrawnFrom } from './withdrawals.ts';

/**
 * Fragments over a message `m` and a user. Read state is derived from bits, periods and flags, never from a row per
 * receiver.
 */

/** Whether the user received it: as a participant, or during a subscription to the channel it was sent to. */
export const wasReceived = (userId: number) => sql.fragment`(m.sent_channel_id IS NULL OR EXISTS (
  SELECT FROM messaging.subscription_period sp WHERE sp.realm_id = m.realm_id AND sp.user_id = ${userId} AND sp.channel_id = m.sent_channel_id
    AND sp.from_id < m.id AND (sp.to_id IS NULL OR sp.to_id > m.id)))`;

export const hasFlag = (userId: number, flag: string) => sql.fragment`EXISTS (
  SELECT FROM messaging.flag fl WHERE fl.realm_id = m.realm_id AND fl.user_id = ${userId} AND fl.flag = ${flag} AND fl.message_id = m.id)`;

export const isRead = (userId: number) => sql.fragment`(NOT ${hasFlag(userId, 'unread')} AND (
  coalesce((SELECT get_bit(rb.bits, (m.id % ${blockSize})::int) = 1 FROM messaging.read_block rb
    WHERE rb.realm_id = m.realm_id AND rb.user_id = ${userId} AND rb.block = (m.id / ${blockSize})::int), false)
  OR (m.sender_id = ${userId} AND m.is_read_by_sender)
  OR NOT ${wasReceived(userId)}
  OR coalesce(NOT ${userId} = ANY(m.unread_for), false)
  OR ${isWithdrawnFrom(sql.fragment`${userId}::int`)}
  OR EXISTS (SELECT FROM messaging.mute_period mp WHERE mp.realm_id = m.realm_id AND mp.user_id = ${userId} AND mp.muted_id = m.sender_id
    AND mp.from_id < m.id AND (mp.to_id IS NULL OR mp.to_id > m.id))))`;

export const isMentioned = (userId: number) => sql.fragment`(m.mentioned_ids @> ARRAY[${userId}]::int[]
  OR m.topic_mentioned_ids @> ARRAY[${userId}]::int[] OR (m.mentions_channel AND ${wasReceived(userId)}))`;

export const isAlerted = (userId: number) => sql.fragment`coalesce(m.alerted_ids @> ARRAY[${userId}]::int[], false)`;

/**
 * All messages that may be unread: those of channels that the user was ever in, above the floor and without a read bit,
 * and those explicitly marked as unread. Use it with `NOT isRead`, over `m`.
 *
 * The time is linear in these messages whatever PostgreSQL assumes about the tables: OFFSET 0 and LATERAL keep the order
 * in which they are read. Bits are looked up once per block, then each message by its primary key. Conditions of the
 * caller apply to what was found; as conditions of the search they led PostgreSQL, where a realm was new to its
 * statistics, to compare each unread message with each message of a topic.
 */
export const unreadSource = (realmId: number, userId: number) => sql.fragment`(
  SELECT m.* FROM (
    SELECT (id / ${blockSize})::int AS block, array_agg(id) AS ids FROM (
      SELECT r.id FROM messaging.message r
      WHERE r.realm_id = ${realmId} AND r.id > ${floorOf(realmId, userId)}
        AND r.id > (SELECT min(from_id) FROM messaging.subscription_period WHERE realm_id = ${realmId} AND user_id = ${userId})
        AND r.sent_channel_id = ANY(ARRAY(
          SELECT DISTINCT channel_id FROM messaging.subscription_period WHERE realm_id = ${realmId} AND user_id = ${userId}))
        AND EXISTS (SELECT FROM messaging.subscription_period p WHERE p.realm_id = r.realm_id AND p.user_id = ${userId}
          AND p.channel_id = r.sent_channel_id AND p.from_id < r.id AND (p.to_id IS NULL OR p.to_id > r.id) OFFSET 0)
      UNION
      SELECT d.message_id FROM messaging.direct_message d
      WHERE d.realm_id = ${realmId} AND d.user_id = ${userId} AND d.message_id > ${floorOf(realmId, userId)}
      UNION
      SELECT u.message_id FROM messaging.flag u WHERE u.realm_id = ${realmId} AND u.user_id = ${userId} AND u.flag = 'unread'
    ) candidate GROUP BY 1 OFFSET 0) found
  LEFT JOIN LATERAL (SELECT b.bits FROM messaging.read_block b
    WHERE b.realm_id = ${realmId} AND b.user_id = ${userId} AND b.block = found.block OFFSET 0) cb ON true,
  LATERAL (SELECT c.id FROM unnest(found.ids) c (id)
    WHERE coalesce(get_bit(cb.bits, (c.id % ${blockSize})::int), 0) = 0
      OR EXISTS (SELECT FROM messaging.flag cf WHERE cf.realm_id = ${realmId} AND cf.user_id = ${userId} AND cf.flag = 'unread' AND cf.message_id = c.id)
    OFFSET 0) unread,
  LATERAL (SELECT s.* FROM messaging.message s WHERE s.realm_id = ${realmId} AND s.id = unread.id OFFSET 0) m)`;

const floorOf = (realmId: number, userId: number) => sql.fragment`coalesce(
  (SELECT floor FROM messaging.read_floor f WHERE f.realm_id = ${realmId} AND f.user_id = ${userId}), 0)`;
