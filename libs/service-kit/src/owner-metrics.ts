import { type Database, sql } from '@natter/database';
import type { LogRedis } from '@natter/event-log';
import { Gauge } from 'prom-client';
import { z } from 'zod';
import type { Logger } from './logging.ts';
import type { Metrics } from './metrics.ts';

const readEveryMs = 10_000;
const lagRow = z.object({ name: z.string(), lag: z.number(), parked: z.number() });

/** Says whether this process reaches Redis. */
export function watchRedis({ registry }: Pick<Metrics, 'registry'>, redis: LogRedis): void {
  new Gauge({
    name: 'natter_redis_up',
    help: '1 while this process is connected to Redis',
    registers: [registry],
    collect() {
      this.set(redis.isUp() ? 1 : 0);
    },
  });
}

/**
 * What a service's own tables say of it: how far its consumers are behind the log and what they had to park. Every replica
 * tells the same, so take the maximum over replicas, never the sum.
 */
export function watchOwner(
  { registry }: Metrics,
  { database, redis, schema, log }: { database: Database; redis: LogRedis; schema: string; log: Logger },
): () => void {
  watchRedis({ registry }, redis);
  new Gauge({
    name: 'natter_postgres_connections',
    help: 'Connections of this process to Postgres, and requests that wait for one',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(database.connections())) this.set({ state }, count);
    },
  });
  const up = new Gauge({
    name: 'natter_postgres_up',
    help: '1 while Postgres answers this process',
    registers: [registry],
  });
  const lag = new Gauge({
    name: 'natter_consumer_lag_events',
    help: 'Committed events that a durable consumer has not passed, over all realms',
    labelNames: ['consumer'],
    registers: [registry],
  });
  const parked = new Gauge({
    name: 'natter_parked_events',
    help: 'Events that a durable consumer could not handle and put aside',
    labelNames: ['consumer'],
    registers: [registry],
  });

  const read = async (): Promise<void> => {
    try {
      const consumer = sql.identifier([schema, 'consumer']);
      const parkedEvent = sql.identifier([schema, 'parked_event']);
      const rows = await database.any(sql.type(lagRow)`
        SELECT c.name, sum(r.number - c.position)::bigint AS lag,
          (SELECT count(*) FROM ${parkedEvent} p WHERE p.name = c.name) AS parked
        FROM ${consumer} c JOIN log.realms(NULL) r USING (realm_id) GROUP BY c.name`);
      for (const row of rows) {
        lag.set({ consumer: row.name }, row.lag);
        parked.set({ consumer: row.name }, row.parked);
      }
      up.set(1);
    } catch (error) {
      up.set(0);
      log.debug({ err: error }, 'could not read the positions of consumers');
    }
  };
  void read();
  const timer = setInterval(() => void read(), readEveryMs);
  return () => clearInterval(timer);
}
