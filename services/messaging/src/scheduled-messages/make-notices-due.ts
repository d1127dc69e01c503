import { type Database, sql } from '@natter/database';

/**
 * Notices are due at once. One with a later time was stored before the clock of the database was set back, or before a
 * standby with an earlier clock took over.
 */
export async function makeNoticesDue(database: Database): Promise<void> {
  await database.run(sql.unsafe`
    UPDATE messaging.scheduled_message SET due_at = statement_timestamp() WHERE id = ANY (ARRAY(
      SELECT id FROM messaging.scheduled_message
      WHERE state = 'waiting' AND kind = 'notice' AND due_at > clock_timestamp() + interval '1 second'
      FOR UPDATE SKIP LOCKED))`);
}
