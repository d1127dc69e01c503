import { type Database, type Executor, sql } from '@natter/database';
import { queueSubject } from '@natter/event-log';
import type { Bus, CommonConfig, Owner, Process } from '@natter/service-kit';
import { z } from 'zod';
import { forget } from './record-cache.ts';
import type { SweepMetrics } from './sweep-metrics.ts';

const countRow = z.object({ count: z.number() });
type Fragment = ReturnType<typeof sql.fragment>;

const idRow = z.object({ queue_id: z.string() });
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
 * Locks queues in the order of their ids. Statements that lock several take them in this order, because after an outage all
 * queues are extended while their clients poll: in different orders the statements would deadlock.
 */
const heldQueues = (tables: Fragment, condition: Fragment) => sql.fragment`
  SELECT queue.queue_id FROM ${tables} WHERE ${condition} ORDER BY queue.queue_id FOR UPDATE OF queue`;

const queueTable = sql.fragment`event_queue.queue`;

/**
 * Records that clients can poll: a gateway confirmed it over NATS and this process, and Postgres writes it. While one
 * of them was away no client could poll, so queues that were alive at the last mark are extended by that time.
 */
export async function markService(database: Database): Promise<void> {
  const all = sql.fragment`${queueTable}, marked, make_interval(secs => ${outageSeconds}) grace`;
  await database.run(sql.unsafe`
    WITH before AS (SELECT at FROM event_queue.alive WHERE at < now() - interval '500 milliseconds' FOR UPDATE),
      marked AS (UPDATE event_queue.alive SET at = now() FROM before RETURNING before.at),
      held AS (${heldQueues(all, sql.fragment`marked.at < now() - grace AND expires_at > marked.at - grace`)})
    UPDATE event_queue.queue q SET expires_at = q.expires_at + (now() - marked.at) FROM marked, held
    WHERE q.queue_id = held.queue_id`);
}

/** Extends the life of queues that are polled; returns those that are alive. */
export async function touchQueues(database: Database, realmId: number, ids: readonly string[]): Promise<string[]> {
  const asked = sql.fragment`realm_id = ${realmId} AND queue_id = ANY(${sql.array(ids, 'text')}) AND ${lives}`;
  // Gateways extend a queue when a quarter of its time has passed, so a quarter is added.
  const alive = await database.any(sql.type(idRow)`
    WITH held AS (${heldQueues(queueTable, asked)})
    UPDATE event_queue.queue q SET expires_at = now() + q.idle_timeout * 1.25 FROM held
    WHERE q.queue_id = held.queue_id RETURNING q.queue_id`);
  return alive.map(({ queue_id }) => queue_id);
}

/** Deletes the queues of a realm for which a condition holds; returns their ids. */
export async function endQueues(executor: Executor, realmId: number, condition: Fragment): Promise<string[]> {
  const mine = sql.fragment`realm_id = ${realmId} AND ${condition}`;
  const ended = await executor.any(sql.type(idRow)`
    WITH held AS (${heldQueues(queueTable, mine)})
    DELETE FROM event_queue.queue q USING held WHERE q.queue_id = held.queue_id RETURNING q.queue_id`);
  return ended.map(({ queue_id }) => queue_id);
}

const batchSize = 1_000;
const everyMs = 2_000;

/**
 * Deletes queues that were not polled within their idle time, except during an outage. Many may expire at once, so they end
 * in batches, and apart from the sweep, which repairs what clients wait for.
 */
export function startExpiry(
  owner: Owner,
  { log, bus }: Pick<Process<CommonConfig>, 'log' | 'bus'>,
  measured: SweepMetrics,
): { stop(): Promise<void> } {
  let isStopped = false;
  let wake: () => void = () => undefined;
  const loop = (async () => {
    while (!isStopped) {
      try {
        for (let ended = batchSize; ended === batchSize && !isStopped; ) {
          ended = await expireSome(owner, bus);
          measured.expired(ended);
        }
        const { count } = await owner.database.one(
          sql.type(countRow)`SELECT count(*) FROM event_queue.queue WHERE expires_at > now()`,
        );
        measured.alive(count);
      } catch (error) {
        log.debug({ err: error }, 'expiry of queues failed');
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, isStopped ? 0 : everyMs * (0.8 + Math.random() * 0.4));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      wake();
      await loop;
    },
  };
}

/** Returns how many queues ended. */
export async function expireSome({ database, redis }: Pick<Owner, 'database' | 'redis'>, bus: Bus): Promise<number> {
  const ended = await database.any(sql.type(endedRow)`
    WITH due AS (
      SELECT queue_id FROM event_queue.queue WHERE expires_at < now() - interval '10 seconds'
        AND EXISTS (SELECT FROM event_queue.alive WHERE at >= now() - make_interval(secs => ${outageSeconds}))
      ORDER BY expires_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)
    DELETE FROM event_queue.queue q USING due WHERE q.queue_id = due.queue_id RETURNING q.realm_id, q.queue_id`);
  const byRealm = Map.groupBy(ended, ({ realm_id }) => realm_id);
  await Promise.all(
    [...byRealm].map(([realmId, queues]) =>
      forget(
        redis,
        realmId,
        queues.map(({ queue_id }) => queue_id),
      ),
    ),
  );
  for (const { realm_id, queue_id } of ended)
    bus.publish(queueSubject(realm_id), JSON.stringify({ queueId: queue_id, gone: true }));
  return ended.length;
}
