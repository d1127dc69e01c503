import { type Database, sql } from '@natter/database';
import { queueSubject } from '@natter/event-log';
import type { Bus, Owner } from '@natter/service-kit';
import { z } from 'zod';
import { forget } from './record-cache.ts';

const countRow = z.object({ count: z.number() });
const endedRow = z.object({ realm_id: z.number(), queue_id: z.string() });
/**
 * A longer time without a mark is an outage. Gateways confirm their service every second. An outage that is shorter
 * extends no queue, so queues live this much longer than their idle time.
 */
const outageSeconds = 3;

/**
 * During an outage nothing expires: the mark does not advance, and queues that were alive at the mark stay alive, in
 * agreement with `markService` after the outage.
 */
export const lives = sql.fragment`expires_at > (
  SELECT CASE WHEN at < now() - grace THEN at ELSE now() END - grace
  FROM event_queue.alive, make_interval(secs => ${outageSeconds}) grace)`;

/**
 * Records that clients can poll: a gateway confirmed it over NATS and this process, and Postgres writes it. While one
 * of them was away no client could poll, so queues that were alive at the last mark are extended by that time.
 */
export async function markService(database: Database): Promise<void> {
  await database.run(sql.unsafe`
    WITH before AS (SELECT at FROM event_queue.alive WHERE at < now() - interval '500 milliseconds' FOR UPDATE),
      marked AS (UPDATE event_queue.alive SET at = now() FROM before RETURNING before.at)
    UPDATE event_queue.queue SET expires_at = expires_at + (now() - marked.at)
    FROM marked, make_interval(secs => ${outageSeconds}) grace
    WHERE marked.at < now() - grace AND expires_at > marked.at - grace`);
}

/** Deletes queues that were not polled within their idle time, except during an outage. */
export async function expireQueues({ database, redis }: Owner, bus: Bus): Promise<{ ended: number; alive: number }> {
  const ended = await database.any(sql.type(endedRow)`
    DELETE FROM event_queue.queue WHERE expires_at < now() - interval '10 seconds'
      AND EXISTS (SELECT FROM event_queue.alive WHERE at >= now() - make_interval(secs => ${outageSeconds}))
    RETURNING realm_id, queue_id`);
  for (const { realm_id, queue_id } of ended) {
    await forget(redis, realm_id, [queue_id]);
    bus.publish(queueSubject(realm_id), JSON.stringify({ queueId: queue_id, gone: true }));
  }
  const { count } = await database.one(
    sql.type(countRow)`SELECT count(*) FROM event_queue.queue WHERE expires_at > now()`,
  );
  return { ended: ended.length, alive: count };
}
