/** Single pieces of work, timed in a separate process: the time that Postgres, Redis or a hash take by themselves. */

import { connect } from '@nats-io/transport-node';
import { hash } from '@node-rs/argon2';
import { Redis } from 'ioredis';
import pg from 'pg';
import { now } from '../../measure/statistics.ts';
import type { LoadResult } from '../load/job.ts';
import { Recorder } from '../load/recorder.ts';

export type FloorWork =
  /** Runs the statements sequentially and serializes all rows as one answer. */
  | {
      kind: 'sql';
      postgresUrl: string;
      queries: { text: string; values?: unknown[] }[];
      times: number;
      inFlight: number;
    }
  | { kind: 'argon2'; times: number; inFlight: number; memoryCost: number; timeCost: number }
  | { kind: 'hset'; redisUrl: string; times: number; inFlight: number; keys: number }
  | { kind: 'xadd'; redisUrl: string; key: string; entries: string[]; times: number }
  | { kind: 'xrange'; redisUrl: string; key: string; times: number }
  /** A request over NATS to the writer floor, and the wait for its delivery, at a fixed rate. */
  | { kind: 'deliver'; natsUrl: string; perSecond: number; times: number }
  | { kind: 'echo'; natsUrl: string; times: number; inFlight: number };

process.on('disconnect', () => process.exit());
process.on('message', (work: FloorWork) => {
  run(work).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.send?.({ ready: true });

async function run(work: FloorWork): Promise<LoadResult> {
  switch (work.kind) {
    case 'sql':
      return sqlWork(work);
    case 'argon2':
      return timed(work, async () => {
        await hash('correct horse battery staple', {
          memoryCost: work.memoryCost,
          timeCost: work.timeCost,
          parallelism: 1,
        });
      });
    case 'hset':
      return withRedis(work.redisUrl, (redis) =>
        timed(work, async (index) => {
          await redis.hset('floor-presence', String(index % work.keys), `active ${index}`);
        }),
      );
    case 'xadd':
      return withRedis(work.redisUrl, async (redis) => {
        await redis.del(work.key);
        return timed({ times: work.times, inFlight: 1 }, async () => {
          const pipeline = redis.pipeline();
          for (const entry of work.entries) pipeline.xadd(work.key, '*', 'd', entry);
          await pipeline.exec();
        });
      });
    case 'xrange':
      return withRedis(work.redisUrl, (redis) =>
        timed({ times: work.times, inFlight: 1 }, async () => {
          for (let from = '-'; ; ) {
            const rows = await redis.xrange(work.key, from, '+', 'COUNT', 500);
            if (rows.length < 500) return;
            from = `(${rows.at(-1)?.[0]}`;
          }
        }),
      );
    case 'deliver':
      return deliverWork(work);
    case 'echo':
      return echoWork(work);
  }
}

async function timed(
  { times, inFlight }: { times: number; inFlight: number },
  once: (index: number) => Promise<void>,
): Promise<LoadResult> {
  const recorder = new Recorder();
  let next = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let index = next++; index < times; index = next++) {
        const startedAt = now();
        await once(index);
        recorder.took(now() - startedAt);
      }
    }),
  );
  return recorder.end();
}

async function sqlWork({
  postgresUrl,
  queries,
  times,
  inFlight,
}: Extract<FloorWork, { kind: 'sql' }>): Promise<LoadResult> {
  const pool = new pg.Pool({ connectionString: postgresUrl, max: inFlight });
  let bytes = 0;
  try {
    const result = await timed({ times, inFlight }, async () => {
      const rows: unknown[] = [];
      for (const query of queries) rows.push((await pool.query(query.text, query.values)).rows);
      bytes += JSON.stringify(rows).length;
    });
    return { ...result, bytes };
  } finally {
    await pool.end();
  }
}

async function deliverWork({
  natsUrl,
  perSecond,
  times,
}: Extract<FloorWork, { kind: 'deliver' }>): Promise<LoadResult> {
  const nats = await connect({ servers: new URL(natsUrl).host, noAsyncTraces: true });
  const recorder = new Recorder();
  let isDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    isDone = resolve;
  });
  nats.subscribe('floor.delivered', {
    callback: (_, message) => {
      recorder.took(now() - Number(message.string()));
      if (recorder.count === times) isDone();
    },
  });
  await nats.flush();
  const start = now();
  for (let index = 0; index < times; index++) {
    const wait = start + (index * 1000) / perSecond - now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    nats
      .request('floor.send', JSON.stringify({ content: String(now()) }))
      .catch((error: unknown) => recorder.fail(String(error)));
  }
  await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 10_000))]);
  await nats.close();
  return recorder.end();
}

async function echoWork({ natsUrl, times, inFlight }: Extract<FloorWork, { kind: 'echo' }>): Promise<LoadResult> {
  const [here, there] = await Promise.all(
    [1, 2].map(() => connect({ servers: new URL(natsUrl).host, noAsyncTraces: true })),
  );
  if (!here || !there) throw new Error('no NATS');
  there.subscribe('floor.echo', { callback: (_, message) => void message.respond(message.data) });
  await there.flush();
  try {
    return await timed(
      { times, inFlight },
      async () => void (await here.request('floor.echo', '{}', { timeout: 10_000 })),
    );
  } finally {
    await Promise.all([here.close(), there.close()]);
  }
}

async function withRedis<R>(url: string, work: (redis: Redis) => Promise<R>): Promise<R> {
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
