import type { PostingRules } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { blockSize } from './blocks.ts';
import { wasReceived } from './read-state.ts';
import { isWithdrawnFrom, withdrawalsOf } from './withdrawals.ts';

/** Whether subscribers see only messages from the time of their subscription. */
export const hasProtectedHistory = (channel: Pick<PostingRules, 'is_private' | 'history_public'>): boolean =>
  channel.is_private && !channel.history_public;

/**
 * SQL condition on a message `m` in a channel with protected history: whether the user received it and no move took it
 * from the user, or it was moved to the channel during a subscription of the user.
 */
export const isSeenBy = (userId: number) => sql.fragment`((${wasReceived(userId)}
  AND NOT ${isWithdrawnFrom(sql.fragment`${userId}::int`)}) OR EXISTS (
  SELECT FROM messaging.arrival ar JOIN messaging.subscription_period ap ON ap.realm_id = ar.realm_id
  WHERE ar.realm_id = m.realm_id AND ar.message_id = m.id AND ap.user_id = ${userId} AND ap.channel_id = m.channel_id
    AND ap.from_id < ar.number AND (ap.to_id IS NULL OR ap.to_id > ar.number)))`;

/** SQL condition on a message `m` of a channel that the user may read: whether the user may read this message. */
export const isOpenTo = (userId: number, channel: Pick<PostingRules, 'is_private' | 'history_public'>) =>
  hasProtectedHistory(channel) ? isSeenBy(userId) : sql.fragment`true`;

/**
 * SQL condition on a period `p` and `s.numbers`, ascending numbers of the log: whether one of the numbers lies in the
 * period. Uses binary search, because thousands of messages and periods would be too many pairs to compare.
 */
export const holdsAny = sql.fragment`width_bucket(p.from_id, s.numbers) <
  CASE WHEN p.to_id IS NULL THEN cardinality(s.numbers) ELSE width_bucket(p.to_id - 1, s.numbers) END`;

/**
 * The users among these for whom this holds for any of the messages. Messages that a move took from users are compared
 * only for those who see none of the others, and together if the same moves took them.
 */
export async function whoSees(
  executor: Executor,
  realmId: number,
  messageIds: readonly number[],
  userIds: readonly number[],
): Promise<number[]> {
  const ofUsers = sql.fragment`p.realm_id = ${realmId} AND p.channel_id = s.channel_id AND p.user_id = ANY(${sql.array([...userIds], 'int4')})`;
  const rows = await executor.any(sql.type(z.object({ user_id: z.number() }))`
    WITH m AS (SELECT m.id, m.sent_channel_id, m.channel_id, ${withdrawalsOf} AS withdrawals
        FROM messaging.message m WHERE m.realm_id = ${realmId} AND m.id = ANY(${sql.array([...messageIds], 'int8')})),
      s (channel_id, numbers) AS (
        SELECT m.sent_channel_id, array_agg(m.id ORDER BY m.id) FROM m WHERE m.withdrawals = '{}' GROUP BY 1
        UNION ALL SELECT m.channel_id, array_agg(ar.number ORDER BY ar.number) FROM m
          JOIN messaging.arrival ar ON ar.realm_id = ${realmId} AND ar.message_id = m.id GROUP BY 1),
      seeing AS MATERIALIZED (
        SELECT DISTINCT p.user_id FROM s JOIN messaging.subscription_period p ON ${ofUsers} WHERE ${holdsAny}),
      taken (channel_id, withdrawals, numbers) AS (
        SELECT m.sent_channel_id, m.withdrawals, array_agg(m.id ORDER BY m.id) FROM m WHERE m.withdrawals <> '{}' GROUP BY 1, 2),
      losers (withdrawals, block, bits) AS (
        SELECT t.withdrawals, w.block, bit_or(w.bits) FROM (SELECT DISTINCT withdrawals FROM taken) t
        JOIN messaging.withdrawal w ON w.realm_id = ${realmId} AND w.id = ANY(t.withdrawals) GROUP BY 1, 2)
    SELECT user_id FROM seeing
    UNION ALL SELECT DISTINCT p.user_id FROM taken s
      JOIN messaging.subscription_period p ON ${ofUsers} AND p.user_id NOT IN (SELECT user_id FROM seeing)
      LEFT JOIN losers l ON l.withdrawals = s.withdrawals AND l.block = p.user_id / ${blockSize}::int
    WHERE ${holdsAny} AND coalesce(get_bit(l.bits, p.user_id % ${blockSize}::int) = 0, true)`);
  return rows.map((row) => row.user_id);
}

export async function sees(executor: Executor, realmId: number, messageId: number, userId: number): Promise<boolean> {
  const row = await executor.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT m.id FROM messaging.message m WHERE m.realm_id = ${realmId} AND m.id = ${messageId} AND ${isSeenBy(userId)}`);
  return row !== undefined;
}
