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
  ${hasReadBit(userId)} OR NOT ${wasReceived(userId)} OR ${neverUnread(userId)}))`;

/** Like `isRead`, for a user who certainly received the message, even if the projections do not show it yet. */
export const isReadByReceiver = (userId: number) => sql.fragment`(NOT ${hasFlag(userId, 'unread')} AND (
  ${hasReadBit(userId)} OR ${neverUnread(userId)}))`;

const hasReadBit = (userId: number) => sql.fragment`coalesce((
  SELECT get_bit(rb.bits, (m.id % ${blockSize})::int) = 1 FROM messaging.read_block rb
  WHERE rb.realm_id = m.realm_id AND rb.user_id = ${userId} AND rb.block = (m.id / ${blockSize})::int), false)`;

/** Whether a message is read although the user received it and never marked it as read. A flag `unread` overrides this. */
export const neverUnread = (userId: number) => sql.fragment`((m.sender_id = ${userId} AND m.is_read_by_sender)
  OR coalesce(NOT ${userId} = ANY(m.unread_for), false)
  OR ${isWithdrawnFrom(sql.fragment`${userId}::int`)}
  OR EXISTS (SELECT FROM messaging.mute_period mp WHERE mp.realm_id = m.realm_id AND mp.user_id = ${userId} AND mp.muted_id = m.sender_id
    AND mp.from_id < m.id AND (mp.to_id IS NULL OR mp.to_id > m.id)))`;

export const isMentioned = (userId: number) => sql.fragment`(m.mentioned_ids @> ARRAY[${userId}]::int[]
  OR m.topic_mentioned_ids @> ARRAY[${userId}]::int[] OR (m.mentions_channel AND ${wasReceived(userId)}))`;

export const isAlerted = (userId: number) => sql.fragment`coalesce(m.alerted_ids @> ARRAY[${userId}]::int[], false)`;
