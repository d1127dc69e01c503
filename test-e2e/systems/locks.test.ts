import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  afterCommit,
  createDatabase,
  createUnitOfWork,
  type Database,
  lock,
  lockFor,
  migrate,
  serviceUrl,
  tryLock,
  type UnitOfWork,
  type Work,
  withCost,
} from '@natter/database';
import { bringServers, type Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The same number is a realm's id in one service and a user's id in the other. */
const ignored = afterCommit(
  () => undefined,
  () => undefined,
);
const id = 7;
let servers: Servers;
const databases: Database[] = [];
let users: UnitOfWork;
let messaging: UnitOfWork;

beforeAll(async () => {
  servers = await bringServers({ dataDir: await mkdtemp(join(tmpdir(), 'natter-test-')) });
  await migrate(servers.postgresUrl, 'secret', () => undefined);
  users = unitsOf('users');
  messaging = unitsOf('messaging');
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await servers?.stop();
});

function unitsOf(schema: 'users' | 'messaging'): UnitOfWork {
  const url = serviceUrl(servers.postgresUrl, schema, 'secret');
  const database = createDatabase({ url, maxConnections: 4, name: 'test', onError: () => undefined });
  databases.push(database);
  return createUnitOfWork(database, ignored);
}
const inRealm = <R>(unitOfWork: UnitOfWork, schema: string, work: (work: Work) => Promise<R>): Promise<R> =>
  unitOfWork({ realmId: id, schema, claim: undefined }, work);

test('a draft is stored while linkifiers change in the realm that has the number of its user', async () => {
  await inRealm(users, 'users', async (work) => {
    await lock(work, 'linkifiers');
    await inRealm(messaging, 'messaging', (other) => lockFor(other, 'drafts', id, 'shared'));
  });
});

test('scheduled messages are delivered while playgrounds change', async () => {
  await inRealm(users, 'users', async (work) => {
    await lock(work, 'playgrounds');
    expect(await inRealm(messaging, 'messaging', (other) => tryLock(other, 'scheduled-delivery'))).toBe(true);
  });
});

test('the time that a unit waits for a lock does not count as its cost', async () => {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = inRealm(users, 'users', async (work) => {
    await lock(work, 'playgrounds');
    held.resolve();
    await released.promise;
  });
  await held.promise;
  const waiter = inRealm(users, 'users', (work) =>
    withCost(async (costMs) => {
      await lock(work, 'playgrounds');
      return costMs();
    }),
  );
  setTimeout(released.resolve, 300);
  await holder;
  expect(await waiter).toBe(0);
});

test('linkifiers wait for a process of the previous release that changes them, and it waits for them', async () => {
  const previous = new pg.Client({ connectionString: serviceUrl(servers.postgresUrl, 'users', 'secret') });
  await previous.connect();
  const order: string[] = [];
  await previous.query(`BEGIN; SELECT pg_advisory_xact_lock(7301, ${id})`);
  const changed = inRealm(users, 'users', async (work) => {
    await lock(work, 'linkifiers');
    order.push('this release');
    const { rows } = await previous.query(`SELECT pg_try_advisory_xact_lock(7301, ${id}) AS is_taken`);
    return rows[0].is_taken as boolean;
  });
  const waiting = 'SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted';
  while ((await previous.query(waiting)).rows[0].count === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  order.push('previous release');
  await previous.query('COMMIT');
  expect(await changed).toBe(false);
  expect(order).toEqual(['previous release', 'this release']);
  await previous.end();
});
