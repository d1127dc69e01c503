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
 * All messages that may be unread: received above the floor and without a read bit, or explicitly marked as unread.
 * Bits are joined by block, so that many read messages cost one look-up per block.
 */
export const unreadSource = (realmId: number, userId: number) => sql.fragment`(
  SELECT m.* FROM (
    SELECT m.id FROM messaging.subscription_period p JOIN messaging.message m ON m.realm_id = p.realm_id AND m.sent_channel_id = p.channel_id
      AND m.id > p.from_id AND (p.to_id IS NULL OR m.id < p.to_id) AND m.id > ${floorOf(realmId, userId)}
    WHERE p.realm_id = ${realmId} AND p.user_id = ${userId}
    UNION
    SELECT d.message_id FROM messaging.direct_message d
    WHERE d.realm_id = ${realmId} AND d.user_id = ${userId} AND d.message_id > ${floorOf(realmId, userId)}
    UNION
    SELECT u.message_id FROM messaging.flag u WHERE u.realm_id = ${realmId} AND u.user_id = ${userId} AND u.flag = 'unread'
  ) candidate LEFT JOIN messaging.read_block cb ON cb.realm_id = ${realmId} AND cb.user_id = ${userId} AND cb.block = (candidate.id / ${blockSize})::int
  JOIN messaging.message m ON m.realm_id = ${realmId} AND m.id = candidate.id
  WHERE coalesce(get_bit(cb.bits, (candidate.id % ${blockSize})::int), 0) = 0
    OR EXISTS (SELECT FROM messaging.flag cf WHERE cf.realm_id = ${realmId} AND cf.user_id = ${userId} AND cf.flag = 'unread' AND cf.message_id = candidate.id))`;

const floorOf = (realmId: number, userId: number) => sql.fragment`coalesce(
  (SELECT floor FROM messaging.read_floor f WHERE f.realm_id = ${realmId} AND f.user_id = ${userId}), 0)`;
