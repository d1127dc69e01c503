import type { QueueRecord } from '@natter/contracts';
import { type LogRedis, promptly, queueKey } from '@natter/event-log';

/** Lifetime of a cached record: longer than the longest deadline of an operation. */
const cacheSeconds = 60;
/** Has no user id, so no gateway accepts it as the record of a queue. */
const noRecord = '{}';

/**
 * Caches the record of a queue. Without Redis the next poll reads Postgres again, and a slow Redis is not awaited. A
 * look-up that began before the queue ended caches nothing.
 */
export async function remember({ redis }: LogRedis, record: QueueRecord): Promise<void> {
  const key = queueKey(record.realm_id, record.queue_id);
  await promptly(redis.set(key, JSON.stringify(record), 'EX', cacheSeconds, 'NX')).catch(() => undefined);
}

/**
 * Marks ended or changed queues as uncacheable for longer than any look-up takes, so each poll reads the record. Redis
 * may be unavailable, and a slow one is not awaited.
 */
export async function forget({ redis }: LogRedis, realmId: number, queueIds: readonly string[]): Promise<void> {
  const keys = queueIds.map((queueId) => queueKey(realmId, queueId));
  const marked = Promise.all(
    keys.map((key) =>
      redis
        .set(key, noRecord, 'EX', 2 * cacheSeconds)
        // A Redis without memory refuses the write, but not the deletion.
        .catch(() => redis.del(key))
        .catch(() => undefined),
    ),
  );
  await promptly(marked).catch(() => undefined);
}
