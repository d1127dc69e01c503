import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { blockSize } from './blocks.ts';
import { type LateReceivers, lateReceivers, type SentMessage } from './late-subscriptions.ts';
import { isWithdrawnFrom } from './withdrawals.ts';

/** SQL condition on a message `m` and a receiver `r`: whether the receiver has a flag for the message. */
const isFlagged = (flag: string) => sql.fragment`EXISTS (SELECT FROM messaging.flag fl
  WHERE fl.realm_id = m.realm_id AND fl.user_id = r.user_id AND fl.flag = ${flag} AND fl.message_id = m.id)`;

const userRow = z.object({ user_id: z.number() });

/**
 * All users who received a message `m`: its participants, or the subscribers of the channel at the time of the send.
 */
const receivers = ({ added, gone }: LateReceivers) => sql.fragment`(
  SELECT p.user_id FROM m JOIN messaging.subscription_period p ON p.realm_id = m.realm_id AND p.channel_id = m.sent_channel_id
    AND p.from_id < m.id AND (p.to_id IS NULL OR p.to_id > m.id) AND p.user_id <> ALL(${sql.array([...gone], 'int4')})
  UNION SELECT unnest(${sql.array([...added], 'int4')})
  UNION SELECT d.user_id FROM m JOIN messaging.direct_message d ON d.realm_id = m.realm_id AND d.message_id = m.id)`;

const message = (realmId: number, messageId: number) =>
  sql.fragment`m AS (SELECT * FROM messaging.message WHERE realm_id = ${realmId} AND id = ${messageId})`;

/** SQL condition on a message `m` and a receiver `r`: whether the receiver has read the message. */
const hasRead = sql.fragment`(NOT EXISTS (SELECT FROM messaging.flag u WHERE u.realm_id = m.realm_id AND u.user_id = r.user_id AND u.flag = 'unread' AND u.message_id = m.id)
  AND (EXISTS (SELECT FROM messaging.read_block b WHERE b.realm_id = m.realm_id AND b.user_id = r.user_id
      AND b.block = (m.id / ${blockSize})::int AND get_bit(b.bits, (m.id % ${blockSize})::int) = 1)
    OR (m.sender_id = r.user_id AND m.is_read_by_sender)))`;

/**
 * SQL condition on a message `m` and a receiver `r`: whether a move ended the access of the receiver, who then does not
 * count as a reader.
 */
const hasLost = sql.fragment`(m.channel_id <> m.sent_channel_id
  AND EXISTS (SELECT FROM messaging.channel c WHERE c.realm_id = m.realm_id AND c.channel_id = m.channel_id AND c.is_private)
  AND NOT EXISTS (SELECT FROM messaging.subscription_period lp
    WHERE lp.realm_id = m.realm_id AND lp.user_id = r.user_id AND lp.channel_id = m.channel_id AND lp.to_id IS NULL))`;

/** The users who have read a message, without those muted by the caller and those who muted the caller. */
export async function readersOf(
  executor: Executor,
  realmId: number,
  messageId: number,
  askedBy: number,
): Promise<number[]> {
  const rows = await executor.any(sql.type(userRow)`
    WITH ${message(realmId, messageId)}, r AS ${receivers({ added: [], gone: [] })}
    SELECT r.user_id FROM r CROSS JOIN m WHERE ${hasRead} AND r.user_id <> m.sender_id AND NOT ${hasLost}
      AND NOT EXISTS (SELECT FROM messaging.mute_period x WHERE x.realm_id = m.realm_id AND x.to_id IS NULL
        AND ((x.user_id = r.user_id AND x.muted_id = ${askedBy}) OR (x.user_id = ${askedBy} AND x.muted_id = r.user_id)))
    ORDER BY r.user_id`);
  return rows.map((row) => row.user_id);
}

/** All users who received a message. */
export async function receiversOf(executor: Executor, realmId: number, sent: SentMessage): Promise<number[]> {
  const late = await lateReceivers(executor, realmId, sent);
  const rows = await executor.any(
    sql.type(userRow)`WITH ${message(realmId, sent.id)} SELECT user_id FROM ${receivers(late)} r`,
  );
  return rows.map((row) => row.user_id);
}

const flagsRow = z.object({ flags: z.array(z.string()), user_ids: z.array(z.number()) });
export type FlagsOfUsers = z.infer<typeof flagsRow>;

/**
 * The flags of a message, grouped by equal flags, for its receivers and for users who flagged it, or are mentioned in it,
 * without a subscription. For all others it is read.
 */
export async function flagsOfReceivers(
  executor: Executor,
  realmId: number,
  sent: SentMessage,
): Promise<readonly FlagsOfUsers[]> {
  const late = await lateReceivers(executor, realmId, sent);
  return executor.any(sql.type(flagsRow)`
    WITH ${message(realmId, sent.id)}, received AS ${receivers(late)}, r AS (
      SELECT user_id, true AS has_received FROM received
      UNION ALL SELECT o.user_id, false FROM (
        SELECT f.user_id FROM m JOIN messaging.flag f ON f.realm_id = m.realm_id AND f.message_id = m.id
        UNION SELECT unnest(m.mentioned_ids) FROM m) o
      WHERE o.user_id NOT IN (SELECT user_id FROM received)), marked AS (
      SELECT r.user_id, array_remove(ARRAY[
        CASE WHEN ${hasRead} OR ((NOT r.has_received OR coalesce(NOT r.user_id = ANY(m.unread_for), false) OR ${isWithdrawnFrom(sql.fragment`r.user_id`)}) AND NOT ${isFlagged('unread')}) OR EXISTS (SELECT FROM messaging.mute_period x
          WHERE x.realm_id = m.realm_id AND x.user_id = r.user_id AND x.muted_id = m.sender_id AND x.from_id < m.id
            AND (x.to_id IS NULL OR x.to_id > m.id) AND NOT ${isFlagged('unread')}) THEN 'read' END,
        CASE WHEN ${isFlagged('starred')} THEN 'starred' END,
        CASE WHEN ${isFlagged('collapsed')} THEN 'collapsed' END,
        CASE WHEN r.user_id = ANY(m.mentioned_ids) THEN 'mentioned' END,
        CASE WHEN m.mentions_channel AND r.has_received THEN 'stream_wildcard_mentioned' END,
        CASE WHEN r.user_id = ANY(m.topic_mentioned_ids) THEN 'topic_wildcard_mentioned' END,
        CASE WHEN (m.mentions_channel AND r.has_received) OR r.user_id = ANY(m.topic_mentioned_ids) THEN 'wildcard_mentioned' END,
        CASE WHEN r.user_id = ANY(m.alerted_ids) THEN 'has_alert_word' END,
        CASE WHEN NOT r.has_received THEN 'historical' END], NULL) AS flags
      FROM r CROSS JOIN m)
    SELECT flags, array_agg(user_id ORDER BY user_id) AS user_ids FROM marked GROUP BY flags`);
}
