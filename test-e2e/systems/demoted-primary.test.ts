import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createUnitOfWork, type Database, serviceUrl, sql, sqlState, startConsumer } from '@natter/database';
import type { Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BeginEpoch, createNewEpochs } from '../../services/event-queue/src/new-epoch.ts';
import { ignored, openDatabase, openServers } from '../open-servers.ts';

let servers: Servers;
let admin: pg.Client;
beforeAll(async () => {
  servers = await openServers();
  admin = new pg.Client({ connectionString: servers.postgresUrl });
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await servers?.stop();
});

test('writes succeed after a failover during which connections to a standby were opened', async () => {
  // Sessions that begin now stay read-only, like those at a standby.
  await admin.query('ALTER ROLE natter_event_queue SET default_transaction_read_only = on');
  const url = serviceUrl(servers.postgresUrl, 'event_queue', 'secret');
  const database = openDatabase(url, 3);
  try {
    const write = () => database.run(sql.unsafe`UPDATE event_queue.alive SET at = now()`);
    const codes = await Promise.all([1, 2, 3].map(() => write().then(String, sqlState)));
    expect(codes).toEqual(['25006', '25006', '25006']);
    await admin.query('ALTER ROLE natter_event_queue RESET default_transaction_read_only');
    await expect.poll(() => write().catch(sqlState)).toBe(1);
  } finally {
    await database.close();
  }
});

const realm = 900;
const keys = ['realm', 'actor:5'];
/** Appends no events as the users service: compares the `expected` versions and bumps `bumps`. */
async function bump(bumps: string[], expected: Record<string, number> = {}): Promise<string | undefined> {
  const users = new pg.Client({ connectionString: serviceUrl(servers.postgresUrl, 'users', 'secret') });
  await users.connect();
  try {
    await users.query("SELECT log.append($1, $2, $3, 'users', '[]')", [realm, JSON.stringify(expected), bumps]);
    return undefined;
  } catch (error) {
    return sqlState(error);
  } finally {
    await users.end();
  }
}
async function versions(): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: servers.postgresUrl });
  await client.connect();
  const { rows } = await client.query('SELECT key, version FROM log.versions($1, $2)', [realm, keys]);
  await client.end();
  return Object.fromEntries(rows.map(({ key, version }) => [key, version]));
}

/** Simulates a promotion that loses commits: the server that `begin` starts has the data from before `lose`. */
async function withLostTail(lose: () => Promise<unknown>, begin: (data: string) => Promise<unknown>): Promise<void> {
  const { postgres, postgresUrl } = servers;
  const reader = new pg.Client({ connectionString: postgresUrl });
  await reader.connect();
  const data = (await reader.query('SHOW data_directory')).rows[0].data_directory as string;
  await reader.end();
  await admin.end();
  await postgres.kill('SIGKILL');
  execFileSync('cp', ['-a', data, `${data}.saved`]);
  await postgres.start();
  await lose();
  await postgres.kill('SIGKILL');
  execFileSync('rm', ['-rf', data]);
  execFileSync('mv', [`${data}.saved`, data]);
  await begin(data);
  admin = new pg.Client({ connectionString: postgresUrl });
  await admin.connect();
}

test.each([
  [
    'a standby that lacks transactions is promoted',
    async (data: string) => {
      await writeFile(`${data}/standby.signal`, '');
      await servers.postgres.start();
      const standby = new pg.Client({ connectionString: servers.postgresUrl });
      await standby.connect();
      const { rows } = await standby.query('SELECT key, version FROM log.versions($1, $2)', [realm, keys]);
      expect(rows).toHaveLength(2);
      await standby.query('SELECT pg_promote()');
      await standby.end();
    },
  ],
  [
    'older data are put back, and a new epoch begins',
    async () => {
      await servers.postgres.start();
      const client = new pg.Client({ connectionString: servers.postgresUrl });
      await client.connect();
      await client.query('SELECT log.new_epoch(realm_id, number, epoch) FROM log.clock');
      await client.end();
    },
  ],
])('when %s, versions are not reused', async (_, begin) => {
  await admin.query('SELECT log.create_realm($1)', [realm]);
  expect(await bump(['realm'])).toBeUndefined();
  let lost: Record<string, number> = {};
  await withLostTail(async () => {
    expect(await bump(keys)).toBeUndefined();
    lost = await versions();
  }, begin);
  expect(await bump(keys)).toBeUndefined();
  const now = await versions();
  for (const key of keys) {
    expect(now[key]).toBeGreaterThan(lost[key] ?? 0);
    expect(await bump([], { [key]: lost[key] ?? 0 })).toBe('NT409');
    expect(await bump([], { [key]: now[key] ?? 0 })).toBeUndefined();
  }
});

describe('an epoch', () => {
  let database: Database;
  let begin: BeginEpoch;
  beforeAll(async () => {
    database = openDatabase(serviceUrl(servers.postgresUrl, 'event_queue', 'secret'), 2);
    const redis = { redis: { del: async () => 0 } };
    const tools = { log: { error: () => undefined }, bus: { publish: () => undefined } };
    begin = createNewEpochs({ database, redis } as never, tools as never, { epochBegan: () => undefined });
  });
  afterAll(() => database?.close());
  /** A realm whose log has five entries, of which the first two are deleted. Returns the marks by number. */
  async function fill(realmId: number): Promise<Map<number, number>> {
    await admin.query('SELECT log.create_realm($1)', [realmId]);
    const ticks = JSON.stringify(Array.from({ length: 5 }, () => ({ type: 'tick' })));
    await admin.query("SELECT log.append($1, '{}', '{}', 'test', $2)", [realmId, ticks]);
    const { rows } = await admin.query('SELECT number::int, mark FROM log.read($1, 0, 5)', [realmId]);
    await admin.query('DELETE FROM log.event WHERE realm_id = $1 AND number < 3', [realmId]);
    await admin.query('UPDATE log.clock SET dropped = 2, floor = 2 WHERE realm_id = $1', [realmId]);
    return new Map(rows.map(({ number, mark }) => [number, mark]));
  }
  const epochOf = async (realmId: number): Promise<number> =>
    (await admin.query('SELECT epoch FROM log.clock WHERE realm_id = $1', [realmId])).rows[0].epoch;

  test('does not begin for entries that the record has or has deleted', async () => {
    const marks = await fill(910);
    for (const [number, mark] of marks) await begin(910, { number, mark }, 5, 1);
    await begin(910, { number: 1, mark: 0 }, 5, 1);
    expect(await epochOf(910)).toBe(1);
  });

  test.each([2, 3, 5, 6])('begins for an entry %d that the record lacks', async (number) => {
    const realmId = 910 + number;
    await fill(realmId);
    await begin(realmId, { number, mark: 0 }, 6, 1);
    expect(await epochOf(realmId)).toBe(2);
  });
});

test('an event with the number of a lost one is handled', async () => {
  const other = 901;
  await admin.query('SELECT log.create_realm($1)', [other]);
  await admin.query("UPDATE log.writer SET reads = reads || '{invites_changed}' WHERE role = 'natter_users'");
  const url = serviceUrl(servers.postgresUrl, 'users', 'secret');
  const database = openDatabase(url, 4);
  const unitOfWork = createUnitOfWork(database, ignored);
  const emit = (type: 'tick' | 'invites_changed') =>
    unitOfWork({ realmId: other, schema: 'users', claim: undefined }, async (work) =>
      work.emit({ type, body: {}, audience: { users: { ids: [] } } }),
    );
  const handled: number[] = [];
  const consumer = startConsumer(database, unitOfWork, {
    schema: 'users',
    name: 'failover',
    on: { invites_changed: async (_, __, number) => void handled.push(number) },
    onError: () => undefined,
  });
  await emit('invites_changed');
  await expect.poll(() => handled).toEqual([1]);
  await withLostTail(
    async () => {
      for (let lost = 0; lost < 5; lost++) await expect.poll(() => emit('tick').then(() => true, sqlState)).toBe(true);
      await expect.poll(() => consumer.through(other)).toBe(6);
    },
    () => servers.postgres.start(),
  );
  await expect.poll(() => emit('invites_changed').then(() => true, sqlState)).toBe(true);
  await expect.poll(() => handled).toEqual([1, 2]);
  await consumer.stop();
  await database.close();
});
