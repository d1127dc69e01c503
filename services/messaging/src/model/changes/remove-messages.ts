import { type Audience, hasId } from '@natter/contracts';
import { sql, VersionsChanged, type Work } from '@natter/database';
import { z } from 'zod';
import { forgetReferences } from '../files/references.ts';
import { emitFlags } from '../mark-read.ts';
import { forgetWithdrawals } from '../withdrawals.ts';
import { emitChannelBegins } from './channel-begins.ts';
import { deletionEvents } from './delete-event.ts';

/** Tables that depend on messages; their rows are deleted with them. */
const dependents = ['reaction', 'submessage', 'message_edit', 'arrival', 'flag', 'direct_message'] as const;

/**
 * Deletes messages of one conversation with all dependent rows, and notifies the users who had them. The caller holds
 * locks on them. Throws VersionsChanged if some of them were deleted or moved before.
 */
export async function removeMessages(
  work: Work,
  where: { channelId: number; topic: string } | undefined,
  messageIds: readonly number[],
  audience: Audience,
): Promise<void> {
  if (messageIds.length === 0) return;
  const ids = sql.array([...messageIds], 'int8');
  const starred = await starsOutside(work, messageIds, audience);
  for (const table of dependents)
    await work.run(
      sql.unsafe`DELETE FROM ${sql.identifier(['messaging', table])} WHERE realm_id = ${work.realmId} AND message_id = ANY(${ids})`,
    );
  await forgetWithdrawals(work, messageIds);
  await forgetReferences(work, messageIds);
  const removed = await work.run(sql.unsafe`
    DELETE FROM messaging.message
    WHERE realm_id = ${work.realmId} AND id = ANY(${ids}) AND channel_id IS NOT DISTINCT FROM ${where?.channelId ?? null}::int`);
  if (removed !== messageIds.length) throw new VersionsChanged(`messages from ${messageIds[0]}`, 'row');
  if (where) await emitChannelBegins(work, where.channelId, messageIds);
  for (const event of deletionEvents(where, messageIds, audience)) work.emit(event);
  for (const star of starred) emitFlags(work, star.userId, { op: 'remove', flag: 'starred' }, star.messageIds);
}

const starredRow = z.object({ user_id: z.number(), message_id: z.number() });

/** Stars of users who do not receive the deletion: their clients can still count the starred messages. */
async function starsOutside(
  work: Work,
  messageIds: readonly number[],
  audience: Audience,
): Promise<{ userId: number; messageIds: number[] }[]> {
  if (audience === 'realm') return [];
  const rows = await work.any(sql.type(starredRow)`
    SELECT user_id, message_id FROM messaging.flag
    WHERE realm_id = ${work.realmId} AND flag = 'starred' AND message_id = ANY(${sql.array([...messageIds], 'int8')}) ORDER BY user_id, message_id`);
  const byUser = Map.groupBy(
    rows.filter((row) => !hasId(audience.users, row.user_id)),
    (row) => row.user_id,
  );
  return [...byUser].map(([userId, stars]) => ({ userId, messageIds: stars.map((star) => star.message_id) }));
}
