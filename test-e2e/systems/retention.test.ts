import { connect } from '@nats-io/transport-node';
import type { System } from '@natter/local/system';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, request } from '../api.ts';
import { metric } from '../metrics.ts';
import { openSystem } from '../open-system.ts';

let system: System;
let admin: pg.Client;
let redis: Redis;
let startedAt: number;
beforeAll(async () => {
  startedAt = Date.now();
  system = await openSystem({ env: { NATTER_LOG_RETENTION_HOURS: '1' }, gateways: 1 });
  admin = new pg.Client(system.servers.postgresUrl);
  admin.on('error', () => undefined);
  await admin.connect();
  redis = new Redis(system.servers.redisUrl);
});
afterAll(async () => {
  redis?.disconnect();
  await admin?.end();
  await system?.stop();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const eventually = async <T>(what: () => Promise<T | undefined>, withinMs = 120_000): Promise<T> => {
  for (const end = Date.now() + withinMs; ; await pause(50)) {
    const found = await what().catch(() => undefined);
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error('it did not come about');
  }
};
const ask = (method: string, path: string, form: Answer, headers: Record<string, string> = {}) =>
  request(system.url, { ...system.people.owner, headers }, `${method} ${path}`, form);
let sends = 0;
/** Under one key until it is answered, so that it is sent once. */
const send = (content: string): Promise<number> => {
  const key = { 'idempotency-key': `send ${++sends}` };
  const form = { type: 'channel', to: 'general', topic: 'old', content };
  return eventually(async () => {
    const { status, body } = await ask('POST', '/messages', form, key);
    return status === 200 ? (body.id as number) : undefined;
  });
};
const register = (): Promise<Answer> =>
  eventually(async () => {
    const { status, body } = await ask('POST', '/register', { event_types: ['message'], idle_queue_timeout: 3_600 });
    return status === 200 ? body : undefined;
  });
const poll = (queueId: string, last: number) =>
  ask('GET', '/events', { queue_id: queueId, last_event_id: last, dont_block: true });
const messagesAfter = (queueId: string, last: number, count: number): Promise<Answer[]> =>
  eventually(async () => {
    const { body } = await poll(queueId, last);
    const events = (body.events as Answer[]).filter((event) => event.type === 'message');
    return events.length >= count ? events : undefined;
  });

const restart = async (program: string): Promise<void> => {
  for (const child of system.children.filter((one) => one.program === program)) {
    const pid = child.pid();
    child.kill('SIGKILL');
    await eventually(async () => (child.pid() !== pid ? true : undefined));
    await child.ready();
  }
};
/** Consumers have passed all recorded events, including ignored ones; their stored positions may lag. */
const allIsRead = (): Promise<true> =>
  eventually(async () => {
    const { rowCount } = await admin.query(`SELECT FROM log.consumer_positions() p JOIN log.clock c USING (realm_id)
      WHERE p.position < c.number AND p.consumer <> 'presence.asleep'`);
    return rowCount === 0 ? true : undefined;
  });
/** Moves everything recorded so far into the past by this many days. Returns the partition that contains it. */
async function age(days: number): Promise<string> {
  await allIsRead();
  const day = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const name = `event_${day.replaceAll('-', '')}`;
  await admin.query(`
    CREATE TABLE log.${name} PARTITION OF log.event
      FOR VALUES FROM (('${day} 00:00:00+00')::timestamptz) TO (('${day} 00:00:00+00')::timestamptz + interval '1 day');
    UPDATE log.event SET created_at = '${day} 00:00:00+00' WHERE created_at > now() - interval '2 days'`);
  return name;
}
const partitions = async (): Promise<string[]> =>
  (await admin.query(`SELECT relname FROM pg_class WHERE relname ~ '^event_[0-9]{8}$' ORDER BY 1`)).rows.map(
    (row) => row.relname,
  );
const clock = async (): Promise<Record<'number' | 'floor' | 'dropped' | 'epoch', number>> => {
  const { rows } = await admin.query('SELECT number, floor, dropped, epoch FROM log.clock WHERE realm_id = 1');
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([key, value]) => [key, Number(value)])) as never;
};
const gone = (name: string): Promise<true> =>
  eventually(async () => ((await partitions()).includes(name) ? undefined : true));
const heldBack = (): Promise<number> => metric(system, 'event-queue', 'natter_log_held_back');

test('partitions are made days ahead', async () => {
  const partitionOf = (time: number, inDays: number): string =>
    `event_${new Date(time + inDays * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`;
  const made = await partitions();
  // Midnight may have passed before they were made, or afterwards.
  const madeAt = made.includes(partitionOf(startedAt, 0)) ? startedAt : Date.now();
  expect(made).toEqual(expect.arrayContaining([0, 1, 3].map((days) => partitionOf(madeAt, days))));
});

test('old events are kept while a consumer has not read them, and so are its queues', async () => {
  const asleep = await register();
  const sent = [await send('one'), await send('two')];
  await admin.query(`INSERT INTO presence.consumer (realm_id, name, position) VALUES (1, 'asleep', 1)`);
  const name = await age(10);
  await restart('event-queue');
  await eventually(async () => ((await heldBack()) === 1 ? true : undefined));
  expect(await partitions()).toContain(name);
  expect((await clock()).dropped).toBe(0);
  // Redis and the gateway have lost the entries, so the record is read.
  await redis.flushall();
  await restart('gateway');
  const events = await messagesAfter(asleep.queue_id, -1, 2);
  expect(events.map((event) => event.message.id)).toEqual(sent);

  await admin.query(`DELETE FROM presence.consumer WHERE name = 'asleep'`);
  const before = await clock();
  await restart('event-queue');
  await gone(name);
  expect(await heldBack()).toBe(0);
  expect((await clock()).dropped).toBe(before.number);
});

test('a queue behind the floor gets an error, and a current one continues, whatever Redis still has', async () => {
  const [asleep, awake] = [await register(), await register()];
  const first = await send('first');
  const key = 'natter:{1}:log-meta';
  // A message is appended to the stream after it was answered.
  const stale = await eventually(async () => {
    const meta = await redis.hgetall(key);
    return Number(meta.number) >= first ? meta : undefined;
  });
  await send('seen by one');
  const last = (await messagesAfter(awake.queue_id, -1, 2)).at(-1)?.id;
  const name = await age(11);
  await restart('event-queue');
  await gone(name);
  const { number, floor, epoch } = await clock();
  expect(floor).toBe(number);

  // Redis has more than Postgres: the stream ends at the clock, whose entry is gone.
  const { host, username, password } = new URL(system.urlsOf('messaging').nats);
  const nats = await connect({ servers: host, user: username, pass: password, inboxPrefix: '_INBOX.messaging' });
  nats.publish('natter.log-conflict', '1');
  await nats.flush();
  await pause(1_000);
  expect(await clock()).toMatchObject({ epoch, number });
  // Like a Redis restored from a copy: the stream ends before the record begins.
  await redis.del('natter:{1}:log');
  await redis.xadd('natter:{1}:log', `${stale.number}-0`, 'm', stale.mark ?? '', 'd', '{}');
  await redis.hset(key, stale);
  nats.publish('natter.log-conflict', '1');
  await nats.drain();
  await eventually(async () => ((await redis.hget(key, 'number')) === stale.number ? undefined : true));
  expect(await clock()).toMatchObject({ epoch, number });

  // Redis has nothing.
  await redis.flushall();
  await restart('gateway');
  const ended = await eventually(async () => {
    const { status, body } = await poll(asleep.queue_id, -1);
    return status === 400 ? body : undefined;
  });
  expect(ended).toMatchObject({ code: 'BAD_EVENT_QUEUE_ID', queue_id: asleep.queue_id });
  const id = await send('after');
  expect(id).toBe(number + 1);
  const events = await messagesAfter(awake.queue_id, last, 1);
  expect(events.map((event) => event.message.id)).toEqual([id]);
  const fresh = await register();
  const next = await send('next');
  const [event] = await messagesAfter(fresh.queue_id, -1, 1);
  expect(event?.message.id).toBe(next);
  expect((await clock()).epoch).toBe(epoch);
});

test('writers do not wait for a reader of old events, and an interrupted detachment is finished', async () => {
  await send('old');
  const name = await age(13);
  const reader = new pg.Client(system.servers.postgresUrl);
  await reader.connect();
  await reader.query('BEGIN; SELECT count(*) FROM log.event');
  await restart('event-queue');
  const detaching = await eventually(async () => {
    const { rows } =
      await admin.query(`SELECT pid FROM pg_stat_activity WHERE query LIKE 'ALTER TABLE log.event DETACH%'
      AND wait_event_type = 'Lock'`);
    return rows[0]?.pid as number | undefined;
  });
  const fresh = await register();
  // A request that waited for the reader would end at its deadline, because the reader goes on.
  const sent = [await send('while one reads'), await send('and another')];
  expect((await messagesAfter(fresh.queue_id, -1, 2)).map((event) => event.message.id)).toEqual(sent);
  await admin.query('SELECT pg_terminate_backend($1)', [detaching]);
  const isPending = async (): Promise<boolean> =>
    (await admin.query('SELECT FROM pg_inherits WHERE inhdetachpending')).rowCount === 1;
  await eventually(async () => ((await isPending()) ? true : undefined));
  await reader.query('ROLLBACK');
  await reader.end();
  await restart('event-queue');
  await gone(name);
  expect(await isPending()).toBe(false);
});

test('a new consumer in an old realm parks an error for the events before the floor', async () => {
  const { dropped } = await clock();
  expect(dropped).toBeGreaterThan(0);
  await admin.query(`DELETE FROM channels.consumer WHERE realm_id = 1`);
  await restart('channels');
  const parked = await eventually(async () => {
    const { rows } = await admin.query(
      `SELECT DISTINCT number::int AS number, error FROM channels.parked_event WHERE realm_id = 1`,
    );
    return rows.length > 0 ? rows : undefined;
  });
  expect(parked).toEqual([
    { number: dropped, error: expect.stringContaining(`up to ${dropped} are no longer in the log`) },
  ]);
});

test('after days without PostgreSQL or a clock jump, writes are refused for a moment and then succeed', async () => {
  await age(9);
  const mayPrepare = (how: 'GRANT' | 'REVOKE') =>
    admin.query(
      `${how} EXECUTE ON FUNCTION log.prepare_partitions ${how === 'GRANT' ? 'TO' : 'FROM'} natter_event_queue`,
    );
  // The first attempt of event-queue fails, like one while PostgreSQL still recovers.
  await mayPrepare('REVOKE');
  const today = `event_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`;
  const dropFromToday = async (): Promise<void> => {
    for (const name of await partitions()) if (name >= today) await admin.query(`DROP TABLE log.${name}`);
  };
  await dropFromToday();
  await restart('event-queue');
  const form = { type: 'channel', to: 'general', topic: 'old', content: 'x' };
  const { status, body } = await ask('POST', '/messages', form);
  expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  await mayPrepare('GRANT');
  const isMadeSoon = () => eventually(async () => ((await partitions()).includes(today) ? true : undefined));
  await isMadeSoon();
  // A jump of the clock follows no failure.
  await dropFromToday();
  await isMadeSoon();
  await send('again');
});

test('event-queue owns the log table but cannot read or write it directly', async () => {
  const { rows } = await admin.query(`SELECT has_table_privilege('natter_event_queue', 'log.event', 'SELECT') AS reads,
    has_table_privilege('natter_event_queue', 'log.event', 'INSERT, UPDATE, DELETE, TRUNCATE') AS writes,
    has_schema_privilege('natter_event_queue', 'log', 'CREATE') AS creates`);
  expect(rows).toEqual([{ reads: false, writes: false, creates: false }]);
});
