import { type Database, inBatches, sql } from '@natter/database';
import { repeat } from '@natter/service-kit';
import { z } from 'zod';

const everyMs = 10 * 60_000;
const deletedAtOnce = 500;
/** How long ended invitations are kept. Requests with their keys are answered with the reason. */
const keptDays = 7;

/** Deletes ended invitations from time to time. */
export const startInvitationSweep = (database: Database, onError: (error: unknown) => void): (() => Promise<void>) =>
  repeat({ everyMs, onError }, (isStopped) => removeEndedInvitations(database, isStopped));

/** Deletes invitations some days after they were closed or expired; a link after those that were requested through it. */
export async function removeEndedInvitations(database: Database, isStopped: () => boolean): Promise<void> {
  await inBatches(deletedAtOnce, isStopped, async () => {
    const { count } = await database.one(sql.type(z.object({ count: z.number() }))`
      WITH ended AS (
        DELETE FROM users.invitation WHERE id = ANY (ARRAY(
          SELECT i.id FROM users.invitation i
          WHERE CASE WHEN i.is_closed THEN coalesce(i.closed_at, i.created_at) ELSE i.expires_at END < now() - make_interval(days => ${keptDays})
            AND NOT EXISTS (SELECT FROM users.invitation asked WHERE asked.link_id = i.id)
          LIMIT ${deletedAtOnce} FOR UPDATE SKIP LOCKED))
        RETURNING id)
      SELECT count(*)::int AS count FROM ended`);
    return count;
  });
}
