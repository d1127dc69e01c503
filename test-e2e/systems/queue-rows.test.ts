import { type Database, serviceUrl } from '@natter/database';
import type { LogRedis } from '@natter/event-log';
import type { Servers } from '@natter/local';
import type { Bus } from '@natter/service-kit';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expireSome, markService, touchQueues } from '../../services/event-queue/src/expiry.ts';
import { openDatabase, openServers } from '../open-servers.ts';

const realmId = 7;
/** In the order in which they expire, which is not that in which they were inserted. */
const [first, middle, last] = ['a', 'b', 'c'];

let servers: Servers;
let database: Database;
let admin: pg.Client;
beforeAll(async () => {
  servers = await openServers();
  const url = serviceUrl(servers.postgresUrl, 'event_queue', 'secret');
  database = openDatabase(url, 4);
  admin = new pg.Client({ connectionString: servers.postgresUrl });
  await admin.connect();
});
afterAll(async () => {
  await database?.close();
  await admin?.end();
  await servers?.stop();
});

const insert = (ids: string, expiredSeconds: number) =>
  admin.query(`
    INSERT INTO event_queue.queue (queue_id, realm_id, user_id, epoch, record, idle_timeout, expires_at)
    SELECT id, ${realmId}, 1, 1, '{}', '10 minutes', now() - interval '${expiredSeconds} seconds' FROM ${ids} id`);

const untilWaiting = (count: number) =>
  expect
    .poll(async () => (await admin.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).rowCount)
    .toBe(count);

test('queues that are polled during the extension after an outage get both extensions', async () => {
  await insert(`unnest(ARRAY['${last}'])`, 10);
  await insert(`unnest(ARRAY['${middle}'])`, 20);
  await insert(`unnest(ARRAY['${first}'])`, 30);
  await insert(`generate_series(1, 5000)`, 5);
  await admin.query(`ANALYZE event_queue.queue; UPDATE event_queue.alive SET at = now() - interval '1 minute'`);
  const other = new pg.Client({ connectionString: servers.postgresUrl });
  await other.connect();
  await other.query(`BEGIN; SELECT FROM event_queue.queue WHERE queue_id = '${middle}' FOR UPDATE`);
  const marked = markService(database);
  await untilWaiting(1);
  const touched = touchQueues(database, realmId, [first, last]);
  await untilWaiting(2);
  await other.query('COMMIT');
  await other.end();
  await marked;
  expect((await touched).sort()).toEqual([first, last]);
  const { rows } = await admin.query('SELECT FROM event_queue.queue WHERE expires_at < now()');
  expect(rows).toEqual([]);
});

describe('after the clock of Postgres was set back by an hour', () => {
  const bus = { publish: () => undefined } as unknown as Bus;
  const redis = { redis: { set: async () => 'OK' } } as unknown as LogRedis;
  const endExpired = () => expireSome({ database, redis }, bus);
  const setMark = (at: string) => admin.query(`UPDATE event_queue.alive SET at = ${at}`);
  beforeEach(async () => {
    await admin.query('DELETE FROM event_queue.queue');
    await insert(`unnest(ARRAY['${first}'])`, 60);
  });

  test('queues do not expire in an outage', async () => {
    await setMark("now() + interval '1 hour'");
    expect(await endExpired()).toBe(0);
    expect(await touchQueues(database, realmId, [first])).toEqual([first]);
  });

  test('the next outage extends the queues that were alive before it', async () => {
    await setMark("now() + interval '1 hour'");
    await markService(database);
    // An outage of five minutes begins now.
    await admin.query(`
      UPDATE event_queue.alive SET at = at - interval '5 minutes';
      UPDATE event_queue.queue SET expires_at = now() - interval '4 minutes'`);
    expect(await endExpired()).toBe(0);
    await markService(database);
    const { rows } = await admin.query('SELECT FROM event_queue.queue WHERE expires_at > now()');
    expect(rows).toHaveLength(1);
  });

  test('queues expire once the service works', async () => {
    await setMark("now() + interval '1 hour'");
    await markService(database);
    expect(await touchQueues(database, realmId, [first])).toEqual([]);
    expect(await endExpired()).toBe(1);
  });
});

test('many queues that expire at once need only a few round trips to a slow Redis', async () => {
  await admin.query('DELETE FROM event_queue.queue; UPDATE event_queue.alive SET at = now()');
  await insert(`generate_series(1, 2500)`, 60);
  // Answers all commands that it has received so far, and then reads again.
  let rounds = 0;
  const waiting: (() => void)[] = [];
  const answer = (): void => {
    rounds++;
    for (const resolve of waiting.splice(0)) resolve();
  };
  const set = () =>
    new Promise<void>((resolve) => {
      if (waiting.length === 0) setImmediate(answer);
      waiting.push(resolve);
    });
  const redis = { redis: { set } } as unknown as LogRedis;
  const gone = new Set<string>();
  const bus = { publish: (_: string, text: string) => gone.add(JSON.parse(text).queueId) } as unknown as Bus;
  while ((await expireSome({ database, redis }, bus)) > 0);
  expect(gone.size).toBe(2500);
  expect(rounds).toBeLessThan(10);
});
