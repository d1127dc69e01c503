import type { LogEvent } from '@natter/contracts';
import { createUnitOfWork, type Database, serviceUrl, sql, startConsumer } from '@natter/database';
import type { Servers } from '@natter/local';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ignored, openDatabase, openServers } from '../open-servers.ts';

const audience = { users: { ids: [] } };
const event: LogEvent = { type: 'invites_changed', body: {}, audience };
const numbers = sql.type(z.object({ number: z.number() }));
let servers: Servers;
let url: string;
let database: Database;
let owner: Database;

beforeAll(async () => {
  servers = await openServers();
  owner = openDatabase(servers.postgresUrl, 1);
  await owner.run(sql.unsafe`UPDATE log.writer SET reads = reads || '{invites_changed}' WHERE role = 'natter_users'`);
  url = serviceUrl(servers.postgresUrl, 'users', 'secret');
  database = open();
});
afterAll(async () => {
  await database?.close();
  await owner?.close();
  await servers?.stop();
});

const open = (): Database => openDatabase(url, 4);

async function realmWithEvents(realmId: number, count: number): Promise<void> {
  const unitOfWork = createUnitOfWork(database, ignored);
  await database.any(sql.unsafe`SELECT log.create_realm(${realmId})`);
  for (let number = 1; number <= count; number++)
    await unitOfWork({ realmId, schema: 'users', claim: undefined }, async (work) => void work.emit(event));
}

const parkedIn = (realmId: number) =>
  database.any(numbers`SELECT number FROM users.parked_event WHERE realm_id = ${realmId} ORDER BY number`);

const handledIn = async (realmId: number): Promise<number[]> =>
  (
    await database.any(
      numbers`SELECT user_id AS number FROM users.idempotency WHERE realm_id = ${realmId} ORDER BY user_id`,
    )
  ).map(({ number }) => number);

/** Two seconds after a try, the next one counts. */
const letTriesAge = (realmId: number) =>
  owner.run(sql.unsafe`UPDATE users.consumer SET tried_at = tried_at - interval '3 s' WHERE realm_id = ${realmId}`);

/**
 * Runs a consumer like a process that ends at an event: its handler does not return, and the connections are closed.
 * Returns whether an event ended it.
 */
async function runProcess(realmId: number, deadly: readonly number[], last: number): Promise<boolean> {
  const own = open();
  const done = Promise.withResolvers<boolean>();
  const consumer = startConsumer(own, createUnitOfWork(own, ignored), {
    schema: 'users',
    name: `deadly-${realmId}`,
    on: {
      invites_changed: async (work, _, number) => {
        if (work.realmId !== realmId) return;
        if (deadly.includes(number)) {
          done.resolve(true);
          await new Promise(() => undefined);
        }
        await work.run(sql.unsafe`
          INSERT INTO users.idempotency (realm_id, user_id, key, fingerprint) VALUES (${realmId}, ${number}, 'effect', '')`);
      },
    },
    onError: () => undefined,
  });
  const hinting = setInterval(() => {
    consumer.hint(realmId);
    if (consumer.through(realmId) >= last) done.resolve(false);
  }, 20);
  const ended = await done.promise;
  clearInterval(hinting);
  if (ended) {
    // The connections of an ended process are gone, and their transactions with them.
    await owner.run(sql.unsafe`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'natter_users' AND state = 'idle in transaction'`);
    void consumer.stop();
  } else {
    await consumer.stop();
    await own.close();
  }
  await letTriesAge(realmId);
  return ended;
}

test.each([
  { realmId: 1, deadly: [1], is: 'the first event of a realm' },
  { realmId: 2, deadly: [5], is: 'an event in the middle' },
  { realmId: 3, deadly: [5, 6], is: 'two events' },
])('$is that ends every process is parked, and the others take effect once', async ({ realmId, deadly }) => {
  const count = 9;
  await realmWithEvents(realmId, count);
  let ends = 0;
  while (await runProcess(realmId, deadly, count)) expect(++ends).toBeLessThan(40);
  expect(ends).toBeGreaterThanOrEqual(8);
  expect(await parkedIn(realmId)).toEqual(deadly.map((number) => ({ number })));
  expect(await handledIn(realmId)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].filter((number) => !deadly.includes(number)));
});

test('an event of many parts, or one that fails for long, is not parked after processes were killed', async () => {
  const realmId = 6;
  await realmWithEvents(realmId, 1);
  for (let killed = 0; killed < 7; killed++) expect(await runProcess(realmId, [1], 1)).toBe(true);
  let left = { failures: 1, parts: 20 };
  const consumer = startConsumer(database, createUnitOfWork(database, ignored), {
    schema: 'users',
    name: `deadly-${realmId}`,
    on: {
      invites_changed: async (work) => {
        if (work.realmId !== realmId) return;
        if (left.failures-- > 0) throw Object.assign(new Error('locked'), { code: '55P03' });
        // Simulates that each part takes more than two seconds.
        await work.run(sql.unsafe`
          UPDATE users.consumer SET tried_at = tried_at - interval '3 s' WHERE realm_id = ${realmId} AND name = ${`deadly-${realmId}`}`);
        left = { ...left, parts: left.parts - 1 };
        return left.parts > 0 ? 'unfinished' : undefined;
      },
    },
    onError: () => undefined,
  });
  const hinting = setInterval(() => consumer.hint(realmId), 20);
  await expect.poll(() => consumer.through(realmId)).toBe(1);
  clearInterval(hinting);
  await consumer.stop();
  expect(left.parts).toBe(0);
  expect(await parkedIn(realmId)).toEqual([]);
});

test('events are not parked if processes start simultaneously or were killed a few times', async () => {
  const realmId = 4;
  await realmWithEvents(realmId, 3);
  for (let killed = 0; killed < 7; killed++) expect(await runProcess(realmId, [1], 3)).toBe(true);
  expect(await runProcess(realmId, [], 3)).toBe(false);
  const crowd = 5;
  await realmWithEvents(crowd, 3);
  await Promise.all(Array.from({ length: 12 }, () => runProcess(crowd, [], 3)));
  expect(await parkedIn(realmId)).toEqual([]);
  expect(await parkedIn(crowd)).toEqual([]);
  expect(await handledIn(crowd)).toEqual([1, 2, 3]);
});
