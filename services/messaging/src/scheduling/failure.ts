import type { ChatError, ErrorCode } from '@natter/contracts';
import { sql, type UnitOfWork, type Work } from '@natter/database';
import { z } from 'zod';
import { queueNotice } from './notice.ts';
import { removedEvent, type ScheduledRow, scheduledColumns, scheduledRow, storedEvent } from './scheduled-row.ts';

/** Nobody is told whose account or realm is gone. */
const silent: readonly ErrorCode[] = ['USER_DEACTIVATED', 'REALM_DEACTIVATED', 'INVALID_API_KEY'];

/**
 * Marks one as failed, for good unless its author gives it another time: the reason is stored, its clients see it, and the
 * notification bot writes to its author. A notice of a bot has no author: it is dropped.
 */
export async function failScheduled(
  unitOfWork: UnitOfWork,
  realmId: number,
  row: ScheduledRow,
  error: ChatError,
): Promise<void> {
  await unitOfWork({ realmId, schema: 'messaging', claim: undefined }, async (work) => {
    const failed = await markFailed(work, row, error.message);
    if (!failed || failed.kind === 'notice') return;
    // There is no event for a changed reminder.
    if (failed.kind === 'reminder') {
      work.emit(removedEvent(failed));
      work.emit(storedEvent('add', failed));
    } else work.emit(storedEvent('update', failed));
    if (failed.kind === 'message' && !silent.includes(error.code)) await tellAuthor(work, failed, error.message);
  });
}

async function markFailed(work: Work, row: ScheduledRow, reason: string): Promise<ScheduledRow | undefined> {
  const held = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM messaging.scheduled_message
    WHERE realm_id = ${work.realmId} AND id = ${row.id} AND state = 'waiting' AND revision = ${row.revision} FOR UPDATE SKIP LOCKED`);
  if (!held) return undefined;
  return work.one(sql.type(scheduledRow)`
    UPDATE messaging.scheduled_message SET state = 'failed', failure = ${reason} WHERE id = ${row.id} RETURNING ${scheduledColumns}`);
}

const tellAuthor = (work: Work, row: ScheduledRow, reason: string): Promise<void> =>
  queueNotice(work, {
    from: 'Notification Bot',
    to: { userIds: [row.user_id] },
    content: `The message you scheduled for <time:${new Date(row.due * 1000).toISOString()}> was not sent because of the following error:\n\n> ${reason}\n\n[View scheduled messages](#scheduled)`,
  });
