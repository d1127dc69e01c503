import { execFileSync } from 'node:child_process';
import { eventQueueOperations, type Operation } from '@natter/contracts';
import { type createDatabase, type Database, type Query, sql } from '@natter/database';
import { connectRedis, type LogRedis } from '@natter/event-log';
import type { Servers } from '@natter/local';
import type { System } from '@natter/local/system';
import {
  type Bus,
  type CommonConfig,
  createLogger,
  createMetrics,
  type Owner,
  type Process,
} from '@natter/service-kit';
import { redisRefusals } from '@natter/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createNewEpochs } from '../../services/event-queue/src/new-epoch.ts';
import { queueHandlers } from '../../services/event-queue/src/queues.ts';
import { readLogHandlers } from '../../services/event-queue/src/read-log.ts';
import { startSweep } from '../../services/event-queue/src/sweep.ts';
import { createSweepMetrics } from '../../services/event-queue/src/sweep-metrics.ts';
import { type Answer, request } from '../api.ts';
import { openDatabase } from '../open-servers.ts';
import { openSystem } from '../open-system.ts';
import { untilServed } from '../patience.ts';
import { startStandby } from '../standby.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem();
});
afterAll(async () => {
  const refusals = await redisRefusals(system.servers.redisUrl).catch(() => []);
  await system?.stop();
  expect(refusals).toEqual([]);
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const eventually = async <T>(what: () => Promise<T | undefined>, withinMs = 120_000): Promise<T> => {
  for (const end = Date.now() + withinMs; ; await pause(100)) {
    const found = await what().catch(() => undefined);
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error('it did not come about');
  }
};
let sends = 0;
/** Under one key until it is answered, so that it is sent once. */
const send = (content: string): Promise<number> => {
  const key = { 'idempotency-key': `send ${++sends}` };
  const form = { type: 'channel', to: 'general', topic: 'tail', content };
  return eventually(async () => {
    const { status, body } = await request(
      system.url,
      { ...system.people.owner, headers: key },
      'POST /messages',
      form,
    );
    return status === 200 ? (body.id as number) : undefined;
  });
};
const register = async (types: string[]): Promise<Answer> => {
  const form = { event_types: types };
  return (await untilServed(() => request(system.url, system.people.member, 'POST /register', form))).body;
};
const poll = (queueId: string, last: number) =>
  request(system.url, system.people.member, 'GET /events', {
    queue_id: queueId,
    last_event_id: last,
    dont_block: true,
  });

test('ids of ephemeral events are not reused after Redis was emptied', async () => {
  const { member, owner } = system.people;
  const queue = await register(['typing']);
  const ids: number[] = [];
  const typeAndRead = async (): Promise<void> => {
    const before = ids.length;
    await eventually(async () => {
      await request(system.url, owner, 'POST /typing', { op: 'start', to: [member.user_id] });
      const { body } = await poll(queue.queue_id, ids.at(-1) ?? -1);
      for (const event of body.events ?? []) if (event.type === 'typing') ids.push(event.id);
      return ids.length > before ? true : undefined;
    });
  };
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 4; count++) await typeAndRead();
    const { redis } = system.servers;
    await redis.kill('SIGKILL');
    await redis.start();
  }
  await typeAndRead();
  expect(ids.length).toBeGreaterThanOrEqual(13);
  expect([...new Set(ids)].sort((a, b) => a - b)).toEqual(ids);
});

test('the first ephemeral event after a wipe has a new id and reaches all clients', async () => {
  const { member, owner } = system.people;
  const queue = await register(['typing']);
  const redis = new Redis(system.servers.redisUrl);
  /** Whether the event arrived without a repetition: on a slow machine one that is not recorded may be lost. */
  const seenAtOnce: boolean[] = [];
  let last = -1;
  const typeUntilSeen = async (): Promise<boolean> => {
    for (let times = 1; times <= 6; times++) {
      const { status } = await request(system.url, owner, 'POST /typing', { op: 'start', to: [member.user_id] });
      expect(status).toBe(200);
      for (const end = Date.now() + 10_000; Date.now() < end; await pause(100)) {
        const answer = await poll(queue.queue_id, last);
        if (answer.status === 503) continue;
        expect(answer).toMatchObject({ status: 200 });
        const [event] = answer.body.events as Answer[];
        if (!event) continue;
        expect(event.id).toBeGreaterThan(last);
        last = event.id;
        return times === 1;
      }
    }
    throw new Error('no typing event arrived');
  };
  for (let round = 0; round < 3; round++) {
    await send(`before the wipe ${round}`);
    await typeUntilSeen();
    await redis.flushall();
    // The stream is complete again, in the same Redis process.
    await eventually(async () => ((await redis.keys('natter:*:log-meta')).length > 0 ? true : undefined));
    seenAtOnce.push(await typeUntilSeen());
  }
  redis.disconnect();
  expect(seenAtOnce).toContain(true);
});

test('when Redis returns with older data, users who come online are in the next presence changes', async () => {
  const { member, owner, administrator, moderator, guest } = system.people;
  const come = async (who: typeof member, last: number) => {
    const form = { status: 'active', last_update_id: last };
    const { status, body } = await request(system.url, who, 'POST /users/me/presence', form);
    expect(status).toBe(200);
    return body as Answer;
  };
  const redis = new Redis(system.servers.redisUrl);
  redis.on('error', () => undefined);
  await come(member, 0);
  const keys = await redis.keys('natter:*:presence*');
  expect(keys.length).toBeGreaterThanOrEqual(3);
  const older = await Promise.all(keys.map(async (key) => [key, await redis.dumpBuffer(key)] as const));
  for (const who of [owner, administrator, moderator]) await come(who, 0);
  const { presence_last_update_id: last } = await come(member, 0);
  const admin = openDatabase(system.servers.postgresUrl, 1);
  const written = z.object({ last: z.number().nullable() });
  await eventually(async () => {
    const found = await admin.one(sql.type(written)`SELECT max(update_id) AS last FROM presence.presence`);
    return found.last === last ? true : undefined;
  });
  await admin.close();
  await system.servers.redis.kill('SIGKILL');
  await system.servers.redis.start();
  await eventually(() => redis.ping());
  for (const [key, value] of older) if (value) await redis.restore(key, 0, value, 'REPLACE');
  redis.disconnect();
  // Waits until the service has connected again: before, it accepts posts without Redis, and the test would pass anyway.
  await pause(3_000);
  await come(guest, 0);
  const { presences, presence_last_update_id } = await come(member, last);
  expect(Object.keys(presences)).toContain(String(guest.user_id));
  expect(presence_last_update_id).toBeGreaterThan(last);
});

/** Runs work on a connection of the database administrator. */
async function asAdmin<T>(work: (admin: ReturnType<typeof createDatabase>) => Promise<T>): Promise<T> {
  const url = system.servers.postgresUrl;
  const admin = openDatabase(url, 1);
  return work(admin).finally(() => admin.close());
}
const directoryRow = z.object({ data_directory: z.string() });

/** Kills Postgres, and starts it again with the data of this moment when the returned function is called. */
async function savePostgres(): Promise<() => Promise<void>> {
  const { postgres } = system.servers;
  const { data_directory: directory } = await asAdmin((admin) =>
    admin.one(sql.type(directoryRow)`SHOW data_directory`),
  );
  await postgres.kill('SIGKILL');
  execFileSync('cp', ['-a', directory, `${directory}.saved`]);
  await postgres.start();
  return async () => {
    await postgres.kill('SIGKILL');
    execFileSync('rm', ['-rf', directory]);
    execFileSync('mv', [`${directory}.saved`, directory]);
    await postgres.start();
  };
}

/** Sends messages that Postgres will lose; resolves when a queue has received them. */
async function sendLost(queueId: string, kept: number): Promise<{ lost: number[]; last: number }> {
  const lost: number[] = [];
  for (let count = 0; count < 5; count++) lost.push(await send(`lost ${count}`));
  const seen = await eventually(async () => {
    const { body } = await poll(queueId, -1);
    return body.events?.length >= 6 ? (body.events as Answer[]) : undefined;
  });
  expect(seen.map((event) => event.message.id)).toEqual([kept, ...lost]);
  return { lost, last: seen.at(-1)?.id };
}

/** Events that are still delivered belong to the old history without a gap, never to the new one. */
async function expectEnd(queueId: string, last: number): Promise<void> {
  const code = await eventually(async () => {
    const { status, body } = await poll(queueId, last);
    for (const event of body.events ?? []) expect(event.message?.content).not.toMatch(/^after/);
    return status === 400 ? (body.code as string) : undefined;
  });
  expect(code).toBe('BAD_EVENT_QUEUE_ID');
}

/** A new queue receives what is sent next, under an ID that was never given before. */
async function expectNewBeginning(...given: number[]): Promise<void> {
  const fresh = await eventually(async () => {
    const state = await register(['message']);
    return state.queue_id ? state : undefined;
  });
  const next = await send('next');
  expect(next).toBeGreaterThan(Math.max(...given));
  const events = await eventually(async () => {
    const { body } = await poll(fresh.queue_id, -1);
    return body.events?.length ? (body.events as Answer[]) : undefined;
  });
  expect(events.map((event) => event.message.id)).toContain(next);
}

test('when Postgres loses its tail, queues end, so that they never continue with a gap', async () => {
  const [current, behind] = [await register(['message']), await register(['message'])];
  const kept = await send('kept');
  const restore = await savePostgres();
  const { lost, last } = await sendLost(current.queue_id, kept);
  await restore();
  const after = await send('after');
  await expectEnd(current.queue_id, last);
  await expectEnd(behind.queue_id, -1);
  await expectNewBeginning(...lost, after);
});

test('when Postgres loses its tail, queues of a realm without new events end too', async () => {
  const queue = await register(['message']);
  const kept = await send('kept');
  await asAdmin((admin) => admin.run(sql.unsafe`UPDATE log.clock SET last_at = last_at - interval '1 hour'`));
  const restore = await savePostgres();
  const { lost, last } = await sendLost(queue.queue_id, kept);
  await restore();
  await expectEnd(queue.queue_id, last);
  await expectNewBeginning(...lost);
});

test('when Postgres and Redis lose the tail, gateways that delivered it end the queues', async () => {
  const { redis } = system.servers;
  const queue = await register(['message']);
  const kept = await send('kept');
  const restore = await savePostgres();
  await redis.kill('SIGKILL');
  const { lost, last } = await sendLost(queue.queue_id, kept);
  await restore();
  await redis.start();
  const after = await send('after');
  await expectEnd(queue.queue_id, last);
  await expectNewBeginning(...lost, after);
});

test('queues end also if the process that began a new epoch was killed before it ended them', async () => {
  const queue = await register(['message']);
  const kept = await send('kept');
  const last = await eventually(async () => (await poll(queue.queue_id, -1)).body.events?.at(-1)?.id as number);
  await asAdmin((admin) => admin.run(sql.unsafe`SELECT log.new_epoch(1, number, epoch) FROM log.position(1)`));
  const after = await send('after');
  await expectEnd(queue.queue_id, last);
  await expectNewBeginning(kept, after);
});

describe('a standby that lags behind', () => {
  let standby: Servers;
  let redis: LogRedis;
  let primary: Database;
  let behind: Database;
  let queueId: string;
  beforeAll(async () => {
    await send('older');
    standby = await startStandby(system.servers);
    queueId = (await register(['message'])).queue_id;
    await send('newer');
    await eventually(async () => (await poll(queueId, -1)).body.events?.[0]);
    const urls = system.urlsOf('event-queue');
    const url = new URL(urls.postgres ?? '');
    primary = openDatabase(url.href, 2);
    url.port = new URL(standby.postgresUrl).port;
    behind = openDatabase(url.href, 2);
    redis = connectRedis(urls.redis, () => undefined);
    await eventually(async () => redis.isUp() || undefined);
  });
  afterAll(async () => {
    redis?.close();
    await behind?.close();
    await primary?.close();
    await standby?.stop();
  });
  const bus = { publish: () => undefined, subscribe: () => undefined, onReconnect: () => undefined } as unknown as Bus;
  const positionRow = z.object({ realm_id: z.number(), epoch: z.number() });
  const position = () =>
    asAdmin((admin) =>
      admin.one(sql.type(positionRow)`
        SELECT c.realm_id, c.epoch FROM log.clock c JOIN event_queue.queue q USING (realm_id) WHERE q.queue_id = ${queueId}`),
    );

  test('does not end the history of entries that it lacks', async () => {
    const before = await position();
    // Simulates that some connections lead to the standby.
    const serverOf = (query: Query) => (/new_epoch|DELETE/.test(query.sql) ? primary : behind);
    const database = {
      any: (query: Query) => serverOf(query).any(query),
      maybeOne: (query: Query) => serverOf(query).maybeOne(query),
      one: (query: Query) => serverOf(query).one(query),
    };
    const outcome = Promise.withResolvers<unknown>();
    const log = { debug: outcome.resolve, error: outcome.resolve };
    const owner = { database, redis, appender: { catchUp: async () => undefined } } as unknown as Owner;
    const process = { log, bus } as unknown as Process<CommonConfig>;
    const measured = createSweepMetrics(createMetrics('test'));
    const beginEpoch = createNewEpochs(owner, process, measured);
    const sweep = startSweep(owner, process, { measured, beginEpoch });
    await outcome.promise;
    await sweep.stop();
    expect(await position()).toEqual(before);
    expect((await poll(queueId, -1)).body.events[0]?.message.content).toContain('newer');
  });

  test('does not answer for queues and entries that it lacks', async () => {
    const { realm_id: realmId } = await position();
    const owner = { database: behind, redis } as unknown as Owner;
    const log = createLogger('test', 'fatal');
    const handlers = [
      ...queueHandlers(owner, bus),
      ...readLogHandlers(owner, { log, beginEpoch: async () => undefined }),
    ];
    const ask = (asked: Operation, params: object) =>
      handlers.find(({ operation }) => operation === asked)?.run({ meta: { realmId } }, params);
    const refused = { code: '25006' };
    await expect(ask(eventQueueOperations.getQueue, { queue_id: queueId })).rejects.toMatchObject(refused);
    await expect(ask(eventQueueOperations.readLog, { after: 0, limit: 1 })).rejects.toMatchObject(refused);
  });
});
