import { sql, type Work } from '@natter/database';
import { z } from 'zod';

/** Direct messages of the notification bot that one person and their bots cause in an hour. One request may exceed it. */
const perHour = 2_500;
const hourSeconds = 3_600;
/** No request uses up more. Later times were stored before the clock of the database was set back. */
const longestSeconds = 24 * hourSeconds;

/**
 * Counts direct messages that a change by this user sends to others. False while earlier ones exceed the allowance: one
 * request can be the cause of hundreds, and its rate limit does not count them.
 */
export async function mayNotify(work: Work, by: number, count: number): Promise<boolean> {
  const { realmId } = work;
  const usedSeconds = Math.min((count * hourSeconds) / perHour, longestSeconds - hourSeconds);
  const isMoved = sql.fragment`a.used_until > clock_timestamp() + make_interval(secs => ${longestSeconds})`;
  const counted = await work.any(sql.type(z.object({ user_id: z.number() }))`
    INSERT INTO messaging.notice_allowance AS a (realm_id, user_id, used_until)
    SELECT ${realmId}, coalesce((SELECT s.bot_owner_id FROM messaging.standing s WHERE s.realm_id = ${realmId} AND s.user_id = ${by}), ${by}),
      clock_timestamp() + make_interval(secs => ${usedSeconds})
    ON CONFLICT (realm_id, user_id) DO UPDATE
      SET used_until = CASE WHEN ${isMoved} THEN clock_timestamp() ELSE greatest(a.used_until, clock_timestamp()) END
        + make_interval(secs => ${usedSeconds})
      WHERE a.used_until < clock_timestamp() + make_interval(secs => ${hourSeconds}) OR ${isMoved}
    RETURNING a.user_id`);
  return counted.length > 0;
}
