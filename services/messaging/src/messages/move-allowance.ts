import { ChatError, moves } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';

const windowSeconds = 60;
/** The largest move uses up this much after a full window. Later times were stored before the clock was set back. */
const longestSeconds = windowSeconds + (moves.perRequest * windowSeconds) / moves.perMinute;

/**
 * Locks the allowance of a user who moves several messages, and throws RATE_LIMIT_HIT while earlier moves exceed it. One
 * move may exceed it, so that a large topic moves at once; the next one then waits the longer. Call it before any message
 * is locked: otherwise two moves of a user could wait for each other. `hasCounted`: whether the same request has counted
 * messages.
 */
export async function requireMoveAllowance(work: Work, userId: number, hasCounted: boolean): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.move_allowance AS a (realm_id, user_id, used_until) VALUES (${work.realmId}, ${userId}, clock_timestamp())
    ON CONFLICT (realm_id, user_id) DO UPDATE SET used_until = clock_timestamp()
      WHERE a.used_until > clock_timestamp() + make_interval(secs => ${longestSeconds})`);
  const { used } = await work.one(sql.type(z.object({ used: z.number() }))`
    SELECT extract(epoch FROM used_until - clock_timestamp())::float8 AS used FROM messaging.move_allowance
    WHERE realm_id = ${work.realmId} AND user_id = ${userId} FOR UPDATE`);
  if (used > windowSeconds && !hasCounted)
    throw new ChatError('RATE_LIMIT_HIT', 'You have moved too many messages. Try again later.', {
      'retry-after': used - windowSeconds,
    });
}

/** Counts messages that a user is about to move. */
export async function countMoved(work: Work, userId: number, count: number): Promise<void> {
  await work.run(sql.unsafe`
    UPDATE messaging.move_allowance
    SET used_until = greatest(used_until, clock_timestamp()) + make_interval(secs => ${(count * windowSeconds) / moves.perMinute})
    WHERE realm_id = ${work.realmId} AND user_id = ${userId}`);
}
