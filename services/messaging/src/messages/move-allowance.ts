import { ChatError, moves } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';

const windowSeconds = 60;
/** The largest move uses up this much after a full window. Later times were stored before the clock was set back. */
const longestSeconds = windowSeconds + (moves.perRequest * windowSeconds) / moves.perMinute;

/**
 * Locks the allowance of a user who moves several messages, and throws RATE_LIMIT_HIT while earlier moves exceed it. One
 * move may exceed it, so that a large topic moves at once; the next one then waits the longer. Call it before any message
 * is locked: otherwise two moves of a user could wait for each other. Returns how many messages the request has counted:
 * `known` in this process, or in another one that was killed before the move was committed.
 */
export async function requireMoveAllowance(
  work: Work,
  userId: number,
  { requestId, known }: { requestId: string; known: number },
): Promise<number> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.move_allowance AS a (realm_id, user_id, used_until) VALUES (${work.realmId}, ${userId}, clock_timestamp())
    ON CONFLICT (realm_id, user_id) DO UPDATE SET used_until = clock_timestamp()
      WHERE a.used_until > clock_timestamp() + make_interval(secs => ${longestSeconds})`);
  const { used, stored } = await work.one(sql.type(z.object({ used: z.number(), stored: z.number() }))`
    SELECT extract(epoch FROM used_until - clock_timestamp())::float8 AS used,
      CASE WHEN counted_request = ${requestId} THEN counted ELSE 0 END AS stored
    FROM messaging.move_allowance WHERE realm_id = ${work.realmId} AND user_id = ${userId} FOR UPDATE`);
  const counted = Math.max(known, stored);
  if (used > windowSeconds && counted === 0)
    throw new ChatError('RATE_LIMIT_HIT', 'You have moved too many messages. Try again later.', {
      'retry-after': used - windowSeconds,
    });
  return counted;
}

/** Counts messages that a request of a user is about to move. `before`: those of them that it has counted. */
export async function countMoved(
  work: Work,
  userId: number,
  requestId: string,
  { count, before }: { count: number; before: number },
): Promise<void> {
  const seconds = ((count - before) * windowSeconds) / moves.perMinute;
  await work.run(sql.unsafe`
    UPDATE messaging.move_allowance
    SET used_until = greatest(used_until, clock_timestamp()) + make_interval(secs => ${seconds}),
      counted_request = ${requestId}, counted = ${count}
    WHERE realm_id = ${work.realmId} AND user_id = ${userId}`);
}
