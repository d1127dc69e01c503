import type { ChatError, ErrorCode } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Background } from '@natter/service-kit';
import { z } from 'zod';
import { queueNotice } from '../model/notice.ts';
import { notice, plain, timeOf } from '../model/notice-text.ts';
import {
  removedEvent,
  type ScheduledRow,
  scheduledColumns,
  scheduledRow,
  storedEvent,
} from '../model/scheduled-row.ts';

/** No message is sent to deactivated users or in deactivated realms. */
const silent: readonly ErrorCode[] = ['USER_DEACTIVATED', 'REALM_DEACTIVATED', 'INVALID_API_KEY'];

/**
 * Marks a message as failed until its author reschedules it: stores the reason, notifies the author's clients, and lets
 * the notification bot write to the author. A bot's notice has no author and is deleted. False if another process holds
 * the message, or it was changed.
 */
export async function failScheduled(
  background: Background,
  realmId: number,
  row: ScheduledRow,
  error: ChatError,
): Promise<boolean> {
  return background(realmId, async (work) => {
    if (!(await lockWaiting(work, row))) return false;
    if (row.kind === 'notice') {
      await work.run(sql.unsafe`DELETE FROM messaging.scheduled_message WHERE id = ${row.id}`);
      return true;
    }
    const failed = await work.one(sql.type(scheduledRow)`
      UPDATE messaging.scheduled_message SET state = 'failed', failure = ${error.message} WHERE id = ${row.id} RETURNING ${scheduledColumns}`);
    // There is no event for a changed reminder.
    if (failed.kind === 'reminder') {
      work.emit(removedEvent(failed));
      work.emit(storedEvent('add', failed));
    } else work.emit(storedEvent('update', failed));
    if (failed.kind === 'message' && !silent.includes(error.code)) await announceAuthor(work, failed, error.message);
    return true;
  });
}

const lockWaiting = (work: Work, row: ScheduledRow) =>
  work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM messaging.scheduled_message
    WHERE realm_id = ${work.realmId} AND id = ${row.id} AND state = 'waiting' AND revision = ${row.revision} FOR UPDATE SKIP LOCKED`);

const announceAuthor = (work: Work, row: ScheduledRow, reason: string): Promise<void> =>
  queueNotice(work, {
    from: 'Notification Bot',
    to: { userIds: [row.user_id] },
    content: notice`The message you scheduled for ${timeOf(row.due)} was not sent because of the following error:\n\n> ${plain(reason)}\n\n[View scheduled messages](#scheduled)`,
  });
