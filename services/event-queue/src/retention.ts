import { type Database, type Executor, executor, sql, tryDatabaseLock, withDeadline } from '@natter/database';
import { Gauge, type Logger, type Metrics, repeat } from '@natter/service-kit';
import { z } from 'zod';
import { forgetOutages, outageHours } from './expiry.ts';

/** Without a partition of today nothing can be written, for example after a jump of the clock. Usually it exists. */
const prepareEveryMs = 1_500;
const daysAhead = 4;
const endEveryMs = 60_000;
/** Deadline of a round, whatever it drops; each statement also has the limit of its role. */
const longestMs = 600_000;
/** Number of realms whose clocks are locked at once, for one short statement. */
const realmsAtOnce = 20;
const nameRow = z.object({ name: z.string() });
const expiredRow = nameRow.extend({ state: z.enum(['attached', 'pending', 'detached']) });
const raisedRow = z.object({ raised: z.number(), remaining: z.number(), held_back_by: z.string().nullable() });

interface Retention {
  /** The dropped partitions. */
  dropped: string[];
  /** The consumer that has not yet read old events. */
  heldBackBy: string | undefined;
}

/** Creates future partitions and drops old ones continuously; the latter in one process at a time. */
export function startRetention(
  database: Database,
  { log, metrics, hours }: { log: Logger; metrics: Metrics; hours: number },
): { stop(): Promise<void> } {
  const isHeldBack = new Gauge({
    name: 'natter_log_held_back',
    help: '1 while old events are kept because a durable consumer has not read them',
    registers: [metrics.registry],
  });
  const onError = (error: unknown): void =>
    log.warn({ err: error }, 'maintaining the partitions of the log failed; it will be retried');
  const stopPreparing = repeat({ everyMs: prepareEveryMs, firstMs: 0, onError }, () => preparePartitions(database));
  const stopEnding = repeat({ everyMs: endEveryMs, firstMs: 0, onError }, async () => {
    const retention = await endPartitions(database, hours);
    if (!retention) return;
    const { dropped, heldBackBy } = retention;
    isHeldBack.set(heldBackBy ? 1 : 0);
    if (dropped.length > 0) log.info({ dropped }, 'dropped events older than the retention');
    if (heldBackBy) log.warn({ consumer: heldBackBy }, 'keeping old events for a consumer that is behind');
  });
  return { stop: async () => void (await Promise.all([stopPreparing(), stopEnding()])) };
}

/**
 * Creates the partitions of today and of some days ahead that are missing, or attaches them again: they were being ended if
 * the clock was days ahead.
 */
export async function preparePartitions(database: Database): Promise<void> {
  await finishDetaching(database, sql.fragment`c.relname >= 'event_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')`);
  await database.run(sql.unsafe`SELECT log.prepare_partitions(${daysAhead})`);
}

/**
 * Ends each partition that is older than the retention, in which outages do not count: floors are raised in batches, then
 * it is detached without waiting for readers, then dropped. Each step can be interrupted; the next process continues there.
 * Undefined if another process is doing this.
 */
export async function endPartitions(database: Database, hours: number): Promise<Retention | undefined> {
  // No other one can be detached before. On the connection of the lock: its transaction may have a snapshot, for which
  // another connection would wait.
  await asOnlyOne(database, (own) => finishDetaching(own, sql.fragment`true`));
  return asOnlyOne(database, async () => {
    const dropped: string[] = [];
    await forgetOutages(database, hours);
    for (;;) {
      const expired = await database.maybeOne(
        sql.type(expiredRow)`SELECT name, state FROM log.expired_partition(${hours} + (${outageHours(hours)}))`,
      );
      // The same partition again: it could not be dropped.
      if (!expired || dropped.includes(expired.name)) return { dropped, heldBackBy: undefined };
      const { name, state } = expired;
      if (state === 'attached') {
        const heldBackBy = await raiseFloors(database, name);
        if (heldBackBy !== undefined) return { dropped, heldBackBy };
        await detach(database, name, 'CONCURRENTLY');
      }
      await database.run(sql.unsafe`SELECT log.drop_partition(${name})`);
      dropped.push(name);
    }
  });
}

/** Queues below a floor end before the events below it are dropped. */
async function raiseFloors(database: Executor, name: string): Promise<string | undefined> {
  for (;;) {
    const { raised, remaining, held_back_by } = await database.one(
      sql.type(raisedRow)`SELECT raised, remaining, held_back_by FROM log.raise_floors(${name}, ${realmsAtOnce})`,
    );
    if (remaining === 0) return undefined;
    if (raised === 0) return held_back_by ?? 'nobody';
  }
}

/** Finishes a detachment that was cut off: queries and writes ignore such a partition. */
async function finishDetaching(database: Executor, which: ReturnType<typeof sql.fragment>): Promise<void> {
  const pending = await database.any(sql.type(nameRow)`
    SELECT c.relname::text AS name FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'log.event'::regclass AND i.inhdetachpending AND ${which}`);
  for (const { name } of pending) await detach(database, name, 'FINALIZE');
}

/** Runs outside any transaction. If it is cut off, the partition stays pending. */
const detach = (database: Executor, name: string, how: 'CONCURRENTLY' | 'FINALIZE'): Promise<number> => {
  const partition = sql.identifier(['log', name]);
  return database.run(
    sql.unsafe`ALTER TABLE log.event DETACH PARTITION ${partition} ${how === 'FINALIZE' ? sql.fragment`FINALIZE` : sql.fragment`CONCURRENTLY`}`,
  );
};

/**
 * A transaction-level lock, held by an open transaction on its own connection, because sessions have no state behind a
 * pooler.
 */
async function asOnlyOne<R>(database: Database, work: (own: Executor) => Promise<R>): Promise<R | undefined> {
  return withDeadline(longestMs, () =>
    database.connect(async ({ query }) => {
      const own = executor(query);
      await query("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10min'");
      const { is_mine } = await own.one(tryDatabaseLock('retention'));
      const result = is_mine ? await work(own) : undefined;
      await query('COMMIT');
      return result;
    }),
  );
}
