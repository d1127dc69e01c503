import { type Database, type Executor, type Fragment, sql } from '@natter/database';
import { queueSubject } from '@natter/event-log';
import { type Bus, type CommonConfig, createSharedCalls, type Owner, type Process, repeat } from '@natter/service-kit';
import { z } from 'zod';
import { forget } from './record-cache.ts';
import type { SweepMetrics } from './sweep-metrics.ts';

const countRow = z.object({ count: z.number() });

const idRow = z.object({ queue_id: z.string() });
const endedRow = z.object({ realm_id: z.number(), queue_id: z.string() });
/**
 * A longer time without a mark is an outage. Gateways confirm their service every second. An outage that is shorter
 * extends no queue, so queues live this much longer than their idle time.
 */
const outageSeconds = 3;

/**
 * A mark in the future: the clock of Postgres was set back, or a standby with an earlier clock took over. Such a mark
 * proves nothing. No mark is later than the real time of the clock that it was taken from.
 */
const isAhead = sql.fragment`at > clock_timestamp()`;

/**
 * During an outage nothing expires: the mark does not advance, and queues that were alive at the mark stay alive, in
 * agreement with `markService` after the outage.
 */
export const lives = sql.fragment`expires_at > (
  SELECT CASE WHEN ${isAhead} THEN '-infinity' WHEN at < now() - grace THEN at ELSE now() END - grace
  FROM event_queue.alive, make_interval(secs => ${outageSeconds}) grace)`;

/**
 * Locks queues in the order of their ids. Statements that lock several take them in this order, because after an outage all
 * queues are extended while their clients poll: in different orders the statements would deadlock.
 */
const heldQueues = (condition: Fragment, limit = sql.fragment``) => sql.fragment`
  SELECT queue.queue_id FROM event_queue.queue WHERE ${condition} ORDER BY queue.queue_id ${limit} FOR UPDATE OF queue`;

const outageRow = z.object({ at: z.string() });
const extendedRow = z.object({ count: z.number(), last: z.string().nullable() });
const extendedAtOnce = 1_000;
/** The end of the outage that this process is recording. */
const extending = createSharedCalls<Database, void>();

/**
 * Records that clients can poll: a gateway confirmed it over NATS and this process, and Postgres writes it. While one
 * of them was away no client could poll, so queues that were alive at the last mark are extended by that time before the
 * mark advances. It waits for locks of the table of queues, as polls do. A mark in the future is set back.
 */
export async function markService(database: Database): Promise<void> {
  const [outage] = await database.any(sql.type(outageRow)`
    WITH reached AS (UPDATE event_queue.queue SET expires_at = expires_at WHERE false), marked AS (
      UPDATE event_queue.alive SET at = now()
      WHERE at < now() - interval '500 milliseconds' AND at >= now() - make_interval(secs => ${outageSeconds}) OR ${isAhead})
    SELECT at::text AS at FROM event_queue.alive WHERE at < now() - make_interval(secs => ${outageSeconds})`);
  if (!outage) return;
  // With many queues it takes longer than a confirmation may: the next one waits for the rest.
  await extending(database, () => endOutage(database, outage.at));
}

/**
 * In batches, so that polls wait for no more than one. Several processes may do it, and one that is killed leaves it to another:
 * then a queue is extended twice, but never beyond the life of one that is polled now.
 */
async function endOutage(database: Database, at: string): Promise<void> {
  const since = sql.fragment`${at}::timestamptz`;
  for (let last: string | null = ''; last !== null; ) {
    const isNext = sql.fragment`queue.queue_id > ${last} AND expires_at > ${since} - make_interval(secs => ${outageSeconds})
      AND EXISTS (SELECT FROM event_queue.alive WHERE at = ${since})`;
    const extended: z.output<typeof extendedRow> = await database.one(sql.type(extendedRow)`
      WITH held AS (${heldQueues(isNext, sql.fragment`LIMIT ${extendedAtOnce}`)}),
        extended AS (
          UPDATE event_queue.queue q
          SET expires_at = greatest(q.expires_at, least(q.expires_at + (now() - ${since}), now() + q.idle_timeout * 1.25))
          FROM held WHERE q.queue_id = held.queue_id RETURNING q.queue_id)
      SELECT count(*) AS count, max(queue_id) AS last FROM extended`);
    last = extended.count === extendedAtOnce ? extended.last : null;
  }
  await database.run(sql.unsafe`
    WITH ended AS (UPDATE event_queue.alive SET at = now() WHERE at = ${since} RETURNING at)
    INSERT INTO event_queue.outage (from_at, to_at) SELECT ${since}, at FROM ended`);
}

/**
 * An outage that ends after this time was measured with a wrong clock. One that ends before it, but in the future, was followed
 * by a small backward step of the clock.
 */
const furthestEnd = sql.fragment`clock_timestamp() + interval '1 hour'`;

/** The outages up to now, with the present one, that the last hours of service contain. */
const outagesWithin = (hours: number): Fragment => sql.fragment`
  SELECT from_at, to_at FROM (
    SELECT from_at, to_at, now() - to_at - coalesce(sum(to_at - from_at) OVER (
      ORDER BY to_at DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), '0') AS served_since
    FROM (
      SELECT from_at, greatest(from_at, least(to_at, now())) AS to_at FROM event_queue.outage WHERE to_at < ${furthestEnd}
      UNION ALL SELECT at, now() FROM event_queue.alive WHERE at < now() - make_interval(secs => ${outageSeconds})) every) counted
  WHERE served_since < make_interval(hours => ${hours})`;

/** How much longer events are kept than for these hours, so that queues that live through outages find them. */
export const outageHours = (hours: number): Fragment => sql.fragment`
  SELECT ceil(coalesce(extract(epoch FROM sum(to_at - from_at)), 0) / 3600)::int FROM (${outagesWithin(hours)}) outage`;

export const forgetOutages = (database: Database, hours: number): Promise<number> =>
  database.run(
    sql.unsafe`DELETE FROM event_queue.outage WHERE from_at NOT IN (SELECT from_at FROM (${outagesWithin(hours)}) recent)`,
  );

/** Extends the life of queues that are polled; returns those that are alive. */
export async function touchQueues(database: Database, realmId: number, ids: readonly string[]): Promise<string[]> {
  const asked = sql.fragment`realm_id = ${realmId} AND queue_id = ANY(${sql.array(ids, 'text')}) AND ${lives}`;
  // Gateways extend a queue when a quarter of its time has passed, so a quarter is added.
  const alive = await database.any(sql.type(idRow)`
    WITH held AS (${heldQueues(asked)})
    UPDATE event_queue.queue q SET expires_at = now() + q.idle_timeout * 1.25 FROM held
    WHERE q.queue_id = held.queue_id RETURNING q.queue_id`);
  return alive.map(({ queue_id }) => queue_id);
}

/** Deletes the queues of a realm for which a condition holds; returns their ids. */
export async function endQueues(executor: Executor, realmId: number, condition: Fragment): Promise<string[]> {
  const mine = sql.fragment`realm_id = ${realmId} AND ${condition}`;
  const ended = await executor.any(sql.type(idRow)`
    WITH held AS (${heldQueues(mine)})
    DELETE FROM event_queue.queue q USING held WHERE q.queue_id = held.queue_id RETURNING q.queue_id`);
  return ended.map(({ queue_id }) => queue_id);
}

const batchSize = 1_000;
const expireEveryMs = 2_000;
/** Counting reads the index entries of all queues. */
const countEveryMs = 30_000;

/**
 * Deletes queues that were not polled within their idle time, except during an outage. Many may expire at once, so they end
 * in batches, and apart from the sweep, which repairs what clients wait for.
 */
export function startExpiry(
  owner: Owner,
  { log, bus }: Pick<Process<CommonConfig>, 'log' | 'bus'>,
  measured: SweepMetrics,
): { stop(): Promise<void> } {
  const onError = (error: unknown): void => log.debug({ err: error }, 'expiry of queues failed');
  const stopExpiring = repeat({ everyMs: expireEveryMs, firstMs: 0, onError }, async (isStopped) => {
    for (let ended = batchSize; ended === batchSize && !isStopped(); ) {
      ended = await expireSome(owner, bus);
      measured.expired(ended);
    }
  });
  const stopCounting = repeat({ everyMs: countEveryMs, firstMs: 0, onError }, async () => {
    const { count } = await owner.database.one(
      sql.type(countRow)`SELECT count(*) FROM event_queue.queue WHERE expires_at > now()`,
    );
    measured.alive(count);
  });
  return { stop: async () => void (await Promise.all([stopExpiring(), stopCounting()])) };
}

/** Returns how many queues ended. */
export async function expireSome({ database, redis }: Pick<Owner, 'database' | 'redis'>, bus: Bus): Promise<number> {
  const ended = await database.any(sql.type(endedRow)`
    WITH due AS (
      SELECT queue_id FROM event_queue.queue WHERE expires_at < now() - interval '10 seconds'
        AND EXISTS (SELECT FROM event_queue.alive WHERE at >= now() - make_interval(secs => ${outageSeconds}) AND NOT ${isAhead})
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
