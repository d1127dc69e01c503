import { type Database, type Executor, executor, sql, withDeadline } from '@natter/database';
import { Gauge, type Logger, type Metrics } from '@natter/service-kit';
import { z } from 'zod';

const everyMs = 60_000;
const daysAhead = 4;
/** For one look, whatever it drops; each statement has the limit of the role. */
const longestMs = 600_000;
/** Realms whose clocks are held at once, for the length of one short statement. */
const realmsAtOnce = 20;
const expiredRow = z.object({ name: z.string(), state: z.enum(['attached', 'pending', 'detached']) });
const raisedRow = z.object({ raised: z.number(), remaining: z.number(), held_back_by: z.string().nullable() });

interface Retention {
  /** Partitions that are gone. */
  dropped: string[];
  /** The consumer that has not read what is old enough to go. */
  heldBackBy: string | undefined;
}

/** Makes room for events to come and lets old ones go, all the time; one process of all does it. */
export function startRetention(
  database: Database,
  { log, metrics, hours }: { log: Logger; metrics: Metrics; hours: number },
): { stop(): Promise<void> } {
  const isHeldBack = new Gauge({
    name: 'natter_log_held_back',
    help: '1 while old events are kept because a durable consumer has not read them',
    registers: [metrics.registry],
  });
  let stopped = false;
  let wake: () => void = () => undefined;
  const loop = (async () => {
    while (!stopped) {
      try {
        const retention = await keepPartitions(database, hours);
        if (retention) {
          const { dropped, heldBackBy } = retention;
          isHeldBack.set(heldBackBy ? 1 : 0);
          if (dropped.length > 0) log.info({ dropped }, 'events older than the retention are gone');
          if (heldBackBy) log.warn({ consumer: heldBackBy }, 'old events are kept for a consumer that is behind');
        }
      } catch (error) {
        log.warn({ err: error }, 'the partitions of the log could not be kept; tried again in a minute');
      }
      if (stopped) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs * (0.8 + Math.random() * 0.4));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      wake();
      await loop;
    },
  };
}

/**
 * Creates partitions ahead, then ends each that is older than the retention: floors are raised in batches, then it is
 * detached without waiting for readers, then dropped. Each step stands by itself; whoever comes next goes on where another was
 * killed. Undefined when another process is at it.
 */
function keepPartitions(database: Database, hours: number): Promise<Retention | undefined> {
  return asOnlyOne(database, async () => {
    await database.run(sql.unsafe`SELECT log.prepare_partitions(${daysAhead})`);
    const dropped: string[] = [];
    for (;;) {
      const expired = await database.maybeOne(
        sql.type(expiredRow)`SELECT name, state FROM log.expired_partition(${hours})`,
      );
      // The same again: it could not be dropped.
      if (!expired || dropped.includes(expired.name)) return { dropped, heldBackBy: undefined };
      const { name, state } = expired;
      if (state === 'attached') {
        const heldBackBy = await raiseFloors(database, name);
        if (heldBackBy !== undefined) return { dropped, heldBackBy };
      }
      if (state !== 'detached') await detach(database, name, state === 'pending');
      await database.run(sql.unsafe`SELECT log.drop_partition(${name})`);
      dropped.push(name);
    }
  });
}

/** Whoever stands at a floor is told before what is below it goes. */
async function raiseFloors(database: Executor, name: string): Promise<string | undefined> {
  for (;;) {
    const { raised, remaining, held_back_by } = await database.one(
      sql.type(raisedRow)`SELECT raised, remaining, held_back_by FROM log.raise_floors(${name}, ${realmsAtOnce})`,
    );
    if (remaining === 0) return undefined;
    if (raised === 0) return held_back_by ?? 'nobody';
  }
}

/** Runs outside of any transaction. Interrupted, it leaves the partition pending, which nobody reads, for FINALIZE. */
const detach = (database: Executor, name: string, isPending: boolean): Promise<number> => {
  const partition = sql.identifier(['log', name]);
  return database.run(
    isPending
      ? sql.unsafe`ALTER TABLE log.event DETACH PARTITION ${partition} FINALIZE`
      : sql.unsafe`ALTER TABLE log.event DETACH PARTITION ${partition} CONCURRENTLY`,
  );
};

/** A lock of a transaction, which is open on a connection of its own: sessions have no state where a pooler stands between. */
async function asOnlyOne<R>(database: Database, work: () => Promise<R>): Promise<R | undefined> {
  return withDeadline(longestMs, () =>
    database.connect(async ({ query }) => {
      await query("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10min'");
      const lock = sql.type(z.object({ is_mine: z.boolean() }))`SELECT pg_try_advisory_xact_lock(7105) AS is_mine`;
      const { is_mine } = await executor(query).one(lock);
      return is_mine ? work() : undefined;
    }),
  );
}
