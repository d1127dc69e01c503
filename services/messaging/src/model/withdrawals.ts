import { type Fragment, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { blockSize, blocksOf } from './blocks.ts';

const idRow = z.object({ id: z.number() });

/**
 * SQL condition on a message `m`: whether a move took it from the user. Such a message counts as read, unless the user
 * marks it as unread later. OFFSET keeps the order of the look-ups: users are compared only for messages that a move took
 * from somebody.
 */
export const isWithdrawnFrom = (userId: Fragment): Fragment => sql.fragment`EXISTS (
  SELECT FROM messaging.withdrawn_message wm WHERE wm.realm_id = m.realm_id AND wm.message_id = m.id AND EXISTS (
    SELECT FROM messaging.withdrawal w WHERE w.realm_id = wm.realm_id AND w.id = wm.withdrawal_id
      AND w.block = ${userId} / ${blockSize}::int AND get_bit(w.bits, ${userId} % ${blockSize}::int) = 1 OFFSET 0) OFFSET 0)`;

/** SQL array for a message `m`: the ids of the withdrawals that took it from users. Messages moved together share them. */
export const withdrawalsOf = sql.fragment`ARRAY(SELECT wm.withdrawal_id FROM messaging.withdrawn_message wm
  WHERE wm.realm_id = m.realm_id AND wm.message_id = m.id ORDER BY 1)`;

/**
 * Clears flags and unread state of users who lost access to these messages in a move. Writes a row for each message, and
 * one for each block of users, because thousands of users may lose thousands of messages.
 */
export async function withdraw(work: Work, userIds: readonly number[], messageIds: readonly number[]): Promise<void> {
  const { realmId } = work;
  const messages = sql.array([...messageIds], 'int8');
  await work.run(sql.unsafe`
    DELETE FROM messaging.flag f USING unnest(${messages}) AS moved (id)
    WHERE f.realm_id = ${realmId} AND f.message_id = moved.id AND f.user_id = ANY(${sql.array([...userIds], 'int4')})`);
  const { id } = await work.one(sql.type(idRow)`SELECT nextval('messaging.withdrawal_id') AS id`);
  const blocks = blocksOf(userIds).map(({ block, bits }) => [block, bits]);
  await work.run(sql.unsafe`
    INSERT INTO messaging.withdrawal (realm_id, id, block, bits)
    SELECT ${realmId}, ${id}, b.block, b.bits::bit(4096) FROM ${sql.unnest(blocks, ['int4', 'text'])} AS b (block, bits)`);
  const earlier = sql.array(await thatInclude(work, id, messageIds), 'int8');
  const written = await work.run(sql.unsafe`
    INSERT INTO messaging.withdrawn_message (realm_id, message_id, withdrawal_id)
    SELECT ${realmId}, moved.id, ${id} FROM unnest(${messages}) AS moved (id)
    WHERE NOT EXISTS (SELECT FROM messaging.withdrawn_message e
      WHERE e.realm_id = ${realmId} AND e.message_id = moved.id AND e.withdrawal_id = ANY(${earlier}))`);
  if (written === 0)
    await work.run(sql.unsafe`DELETE FROM messaging.withdrawal WHERE realm_id = ${realmId} AND id = ${id}`);
}

/**
 * The withdrawals of these messages that include all users of the withdrawal `id`. They are reused: otherwise, messages
 * that are moved back and forth would add a row with each move.
 */
async function thatInclude(work: Work, id: number, messageIds: readonly number[]): Promise<number[]> {
  const { realmId } = work;
  const rows = await work.any(sql.type(idRow)`
    SELECT e.id FROM (SELECT DISTINCT withdrawal_id AS id FROM messaging.withdrawn_message
      WHERE realm_id = ${realmId} AND message_id = ANY(${sql.array([...messageIds], 'int8')})) e
    WHERE NOT EXISTS (SELECT FROM messaging.withdrawal n
      LEFT JOIN messaging.withdrawal o ON o.realm_id = n.realm_id AND o.id = e.id AND o.block = n.block
      WHERE n.realm_id = ${realmId} AND n.id = ${id} AND (o.bits IS NULL OR (n.bits & ~o.bits) <> 0::bit(4096)))`);
  return rows.map((row) => row.id);
}

/** Messages are deleted: so are withdrawals that have no others. */
export async function forgetWithdrawals(work: Work, messageIds: readonly number[]): Promise<void> {
  const { realmId } = work;
  const rows = await work.any(sql.type(idRow)`
    DELETE FROM messaging.withdrawn_message WHERE realm_id = ${realmId} AND message_id = ANY(${sql.array([...messageIds], 'int8')})
    RETURNING withdrawal_id AS id`);
  if (rows.length === 0) return;
  const ids = [...new Set(rows.map(({ id }) => id))];
  await work.run(sql.unsafe`
    DELETE FROM messaging.withdrawal w WHERE w.realm_id = ${realmId} AND w.id = ANY(${sql.array(ids, 'int8')})
      AND NOT EXISTS (SELECT FROM messaging.withdrawn_message m WHERE m.realm_id = w.realm_id AND m.withdrawal_id = w.id)`);
}
