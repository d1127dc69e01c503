import { type Consumer, type Database, sql } from '@natter/database';
import type { LogRedis } from '@natter/event-log';
import { Gauge } from 'prom-client';
import { z } from 'zod';
import type { Logger } from './logging.ts';
import type { Metrics } from './metrics.ts';

const readEveryMs = 10_000;
const lagRow = z.object({ lag: z.number() });
const parkedRow = z.object({ name: z.string(), count: z.number() });

/** Reports whether this process is connected to Redis. */
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
 * Metrics from a service's own tables: consumer lag and parked events. Every replica reports the same values, so take
 * the maximum over replicas, never the sum.
 */
export function watchOwner(
  { registry }: Metrics,
  {
    database,
    redis,
    schema,
    consumers,
    log,
  }: {
    database: Database;
    redis: LogRedis;
    schema: string;
    consumers: () => readonly Pick<Consumer, 'name' | 'types' | 'failingSeconds'>[];
    log: Logger;
  },
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
    name: 'natter_consumer_lag_seconds',
    help: 'Age of the oldest event that concerns a durable consumer and has not had its effect',
    labelNames: ['consumer'],
    registers: [registry],
  });
  new Gauge({
    name: 'natter_consumer_failing_seconds',
    help: 'For how long a durable consumer has not been able to go on in a realm, at most',
    labelNames: ['consumer'],
    registers: [registry],
    collect() {
      for (const { name, failingSeconds } of consumers()) this.set({ consumer: name }, failingSeconds());
    },
  });
  const parked = new Gauge({
    name: 'natter_parked_events',
    help: 'Events that a durable consumer could not handle and put aside',
    labelNames: ['consumer'],
    registers: [registry],
  });

  let isReading = false;
  const read = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      const parkedEvent = sql.identifier([schema, 'parked_event']);
      const rows = await database.any(
        sql.type(parkedRow)`SELECT name, count(*) AS count FROM ${parkedEvent} GROUP BY name`,
      );
      for (const { name, types } of consumers()) {
        const oldest = await database.one(sql.type(lagRow)`
          SELECT coalesce(extract(epoch FROM clock_timestamp()) * 1000
            - min(log.waiting_since(r.realm_id, coalesce(c.position, 0), r.number, ${sql.array([...types], 'text')})), 0)::float8 AS lag
          FROM log.realms(NULL) r
          LEFT JOIN ${sql.identifier([schema, 'consumer'])} c ON c.realm_id = r.realm_id AND c.name = ${name}
          WHERE r.number > coalesce(c.position, 0)`);
        lag.set({ consumer: name }, Math.max(0, oldest.lag / 1000));
        parked.set({ consumer: name }, rows.find((row) => row.name === name)?.count ?? 0);
      }
      up.set(1);
    } catch (error) {
      up.set(0);
      log.debug({ err: error }, 'reading the positions of consumers failed');
    } finally {
      isReading = false;
    }
  };
  void read();
  const timer = setInterval(() => void read(), readEveryMs);
  return () => clearInterval(timer);
}
