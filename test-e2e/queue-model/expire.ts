import type { Redis } from 'ioredis';
import type { Pool } from 'pg';

/** As if nobody had polled the queue for its time: it is due, and no copy of it is left, as those live shorter. */
export async function expireIn(postgres: Pool, redis: Redis, queueId: string): Promise<void> {
  const { rows } = await postgres.query(
    `UPDATE event_queue.queue SET expires_at = now() - interval '1 minute' WHERE queue_id = $1 RETURNING realm_id`,
    [queueId],
  );
  const realmId = rows[0]?.realm_id;
  if (realmId !== undefined) await redis.del(`natter:{${realmId}}:queue:${queueId}`);
}
