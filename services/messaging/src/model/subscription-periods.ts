import type { PostingRules } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { wasReceived } from './read-state.ts';

/** Whether subscribers see only messages from the time of their subscription. */
export const hasProtectedHistory = (channel: Pick<PostingRules, 'is_private' | 'history_public'>): boolean =>
  channel.is_private && !channel.history_public;

/**
 * Over a message `m` in a channel with protected history: whether it was sent to the user, or moved there during their
 * subscription.
 */
export const isSeenBy = (userId: number) => sql.fragment`(${wasReceived(userId)} OR EXISTS (
  SELECT FROM messaging.arrival ar JOIN messaging.subscription_period ap ON ap.realm_id = ar.realm_id
  WHERE ar.realm_id = m.realm_id AND ar.message_id = m.id AND ap.user_id = ${userId} AND ap.channel_id = m.channel_id
    AND ap.from_id < ar.number AND (ap.to_id IS NULL OR ap.to_id > ar.number)))`;

/** Over a message `m` of a channel that the user may read: whether they may read this message. */
export const isOpenTo = (userId: number, channel: Pick<PostingRules, 'is_private' | 'history_public'>) =>
  hasProtectedHistory(channel) ? isSeenBy(userId) : sql.fragment`true`;

/** All users for whom this holds for any of the messages. */
export async function whoSees(executor: Executor, realmId: number, messageIds: readonly number[]): Promise<number[]> {
  const rows = await executor.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT DISTINCT p.user_id FROM messaging.message m
    LEFT JOIN messaging.arrival ar ON ar.realm_id = m.realm_id AND ar.message_id = m.id
    JOIN messaging.subscription_period p ON p.realm_id = m.realm_id AND (
      (p.channel_id = m.sent_channel_id AND p.from_id < m.id AND (p.to_id IS NULL OR p.to_id > m.id))
      OR (p.channel_id = m.channel_id AND p.from_id < ar.number AND (p.to_id IS NULL OR p.to_id > ar.number)))
    WHERE m.realm_id = ${realmId} AND m.id = ANY(${sql.array([...messageIds], 'int8')})`);
  return rows.map((row) => row.user_id);
}

export async function sees(executor: Executor, realmId: number, messageId: number, userId: number): Promise<boolean> {
  const row = await executor.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT m.id FROM messaging.message m WHERE m.realm_id = ${realmId} AND m.id = ${messageId} AND ${isSeenBy(userId)}`);
  return row !== undefined;
}
