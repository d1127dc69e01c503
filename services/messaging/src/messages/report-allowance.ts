import { ChatError, reports } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';

const hourSeconds = 3_600;
const secondsOfOne = hourSeconds / reports.perHour;

/**
 * Counts a report of a user, and throws RATE_LIMIT_HIT while earlier ones use up the hour: each is a message to all
 * moderators. Later times than an hour were stored before the clock of the database was set back.
 */
export async function countReport(work: Work, userId: number): Promise<void> {
  const isMoved = sql.fragment`a.used_until > clock_timestamp() + make_interval(secs => ${hourSeconds})`;
  const counted = await work.run(sql.unsafe`
    INSERT INTO messaging.report_allowance AS a (realm_id, user_id, used_until)
    VALUES (${work.realmId}, ${userId}, clock_timestamp() + make_interval(secs => ${secondsOfOne}))
    ON CONFLICT (realm_id, user_id) DO UPDATE
      SET used_until = CASE WHEN ${isMoved} THEN clock_timestamp() ELSE greatest(a.used_until, clock_timestamp()) END
        + make_interval(secs => ${secondsOfOne})
      WHERE a.used_until <= clock_timestamp() + make_interval(secs => ${hourSeconds - secondsOfOne}) OR ${isMoved}`);
  if (counted > 0) return;
  const { used } = await work.one(sql.type(z.object({ used: z.number() }))`
    SELECT extract(epoch FROM used_until - clock_timestamp())::float8 AS used FROM messaging.report_allowance
    WHERE realm_id = ${work.realmId} AND user_id = ${userId}`);
  throw new ChatError('RATE_LIMIT_HIT', 'You have reported too many messages. Try again later.', {
    'retry-after': Math.max(1, used - (hourSeconds - secondsOfOne)),
  });
}
