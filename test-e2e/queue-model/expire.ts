import type { Redis } from 'ioredis';
import type { Pool } from 'pg';

/** Makes a queue expire: it is due, no copy of its record is cached, and no look-up is in progress. */
export async function expireIn(postgres: Pool, redis: Redis, queueId: string): Promise<void> {
  const { rows } = await postgres.query(
    `UPDATE event_queue.queue SET expires_at = now() - interval '1 minute' WHERE queue_id = $1 RETURNING realm_id`,
    [queueId],
  );
  const realmId = rows[0]?.realm_id;
  // A record without a user: an earlier look-up caches nothing in its place.
  if (realmId !== undefined) await redis.set(`natter:{${realmId}}:queue:${queueId}`, '{}', 'EX', 120);
}
