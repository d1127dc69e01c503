import { sql } from '@natter/database';
import { queueKey, queueSubject } from '@natter/event-log';
import type { Bus, Owner } from '@natter/service-kit';
import { z } from 'zod';

const endedRow = z.object({ realm_id: z.number(), queue_id: z.string() });
/** Longer without a mark is an outage. Marks come every second; queues that live longer than asked for do no harm. */
export const outageSeconds = 3;

/**
 * Marks that the system works, and deletes the queues that nobody polled for their time. Nobody could poll in an outage, of
 * Postgres, NATS or this service: queues that lived when it began live longer by its length.
 */
export async function expireQueues({ database, redis }: Owner, bus: Bus): Promise<{ ended: number; alive: number }> {
  await within(bus.flush(), 2_000);
  await database.run(sql.unsafe`
    WITH before AS (SELECT at FROM event_queue.alive FOR UPDATE),
      marked AS (UPDATE event_queue.alive SET at = greatest(alive.at, now()) FROM before RETURNING before.at)
    UPDATE event_queue.queue SET expires_at = expires_at + (now() - marked.at)
    FROM marked WHERE marked.at < now() - make_interval(secs => ${outageSeconds}) AND expires_at > marked.at`);
  const ended = await database.any(sql.type(endedRow)`
    DELETE FROM event_queue.queue WHERE expires_at < now() - interval '10 seconds' RETURNING realm_id, queue_id`);
  for (const { realm_id, queue_id } of ended) {
    await redis.redis.del(queueKey(realm_id, queue_id)).catch(() => undefined);
    bus.publish(queueSubject(realm_id), JSON.stringify({ queueId: queue_id, gone: true }));
  }
  const { count } = await database.one(
    sql.type(z.object({ count: z.number() }))`SELECT count(*) FROM event_queue.queue WHERE expires_at > now()`,
  );
  return { ended: ended.length, alive: count };
}

async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('NATS is away')), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
