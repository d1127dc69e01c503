import type { System } from '@natter/local/system';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataDirectory, openSystem } from '../open-system.ts';
import { operatorSettings, runNatter } from '../operator-command.ts';

let system: System;
let settings: Record<string, string>;
let admin: pg.Client;
let redis: Redis;
beforeAll(async () => {
  const dataDir = await dataDirectory();
  system = await openSystem({ dataDir });
  settings = await operatorSettings(system, dataDir);
  admin = new pg.Client({ connectionString: system.servers.postgresUrl });
  await admin.connect();
  redis = new Redis(system.servers.redisUrl);
});
afterAll(async () => {
  redis?.disconnect();
  await admin?.end();
  await system?.stop();
});

/** The report of the doctor in a state that one statement begins and another one ends. */
async function whileIn(
  run: (text: string) => Promise<unknown>,
  [begin, end]: [string, string],
): Promise<{ code: number; failures: string[] }> {
  await run(begin);
  try {
    const { code, output } = await runNatter(settings, ['doctor']);
    return { code, failures: output.split('\n').filter((line) => line.startsWith('FAIL ')) };
  } finally {
    await run(end);
  }
}

const inPostgres = (text: string) => admin.query(text);
const inRedis = (text: string) => {
  const [command = '', ...args] = text.split(' ');
  return redis.call(command, args);
};

test('the doctor finds nothing in a healthy system', async () => {
  const { code, output } = await runNatter(settings, ['doctor', '--wait', '60']);
  expect(output).toContain('ok    writes to Redis: accepted');
  expect(code).toBe(0);
});

test.each([
  ['is a replica', ['REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'], 'it is a replica of 127.0.0.1:1'],
  [
    'has fewer replicas than writes need',
    ['CONFIG SET min-replicas-to-write 1', 'CONFIG SET min-replicas-to-write 0'],
    'refused: NOREPLICAS',
  ],
] as [string, [string, string], string][])('the doctor fails if Redis %s', async (_, change, text) => {
  const { code, failures } = await whileIn(inRedis, change);
  const line = failures.find((failure) => failure.includes('writes to Redis: '));
  expect([code, line]).toEqual([1, expect.stringContaining(text)]);
  expect(line).toContain('(see docs/operating/runbooks/NatterRedisAway.md)');
});

test.each([
  [
    'loses what a service commits',
    [
      'ALTER ROLE natter_messaging SET synchronous_commit = off',
      'ALTER ROLE natter_messaging RESET synchronous_commit',
    ],
    'may lose what it acknowledged: synchronous_commit is off for natter_messaging',
  ],
  [
    'refuses the writes of a service',
    [
      'ALTER ROLE natter_users SET default_transaction_read_only = on',
      'ALTER ROLE natter_users RESET default_transaction_read_only',
    ],
    'refuses writes: default_transaction_read_only is on for natter_users',
  ],
] as [string, [string, string], string][])('the doctor fails if PostgreSQL %s', async (_, change, text) => {
  const { code, failures } = await whileIn(inPostgres, change);
  expect(code).toBe(1);
  expect(failures).toContainEqual(expect.stringContaining(text));
});

test('the doctor heeds that a setting of a role overrides one of the database', async () => {
  const { rows } = await admin.query('SELECT quote_ident(current_database()) AS name');
  const [{ name }] = rows;
  await admin.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
  await admin.query('ALTER ROLE natter_users SET synchronous_commit = on');
  const { failures } = await whileIn(inPostgres, [
    'SELECT 1',
    `ALTER DATABASE ${name} RESET synchronous_commit; ALTER ROLE natter_users RESET synchronous_commit`,
  ]);
  const line = failures.find((failure) => failure.includes('for natter_'));
  expect(line).toContain('natter_messaging');
  expect(line).not.toContain('natter_users');
});

test.each([
  ['has no connection left', 'CONNECTION LIMIT 0', 'CONNECTION LIMIT -1', 'too many connections for role'],
  ['may not log in', 'NOLOGIN', 'LOGIN', 'is not permitted to log in'],
])('the doctor fails if the role of a service %s', async (_, change, back, text) => {
  const { code, failures } = await whileIn(inPostgres, [
    `ALTER ROLE natter_presence ${change}`,
    `ALTER ROLE natter_presence ${back}`,
  ]);
  const refused = failures.filter((line) => line.includes('password of presence: Postgres refuses the login'));
  expect(refused).toEqual([expect.stringContaining(text)]);
  expect(code).toBe(1);
});

describe('natter parked', () => {
  const natter = (...args: string[]) => runNatter(settings, ['parked', ...args]);
  const named = ['--service', 'channels', '--consumer', 'people', '--realm', '1', '--number', '1'];
  const park = () =>
    inPostgres("INSERT INTO channels.parked_event (realm_id, name, number, error) VALUES (1, 'people', 1, 'a defect')");

  test('lists and drops the parked events of a consumer', async () => {
    await park();
    expect((await natter('list')).output).toContain('a defect');
    expect(await natter('drop', ...named)).toMatchObject({ code: 0 });
    expect((await natter('list')).output).toContain('no event is parked');
    expect(await natter('drop', ...named)).toMatchObject({ code: 1 });
    expect(await natter('drop', ...named.slice(2))).toMatchObject({ code: 2 });
  });

  test('lets the service apply a parked event again', async () => {
    await park();
    expect(await natter('apply', ...named)).toMatchObject({ code: 0 });
    // Either applied, or of a type that the consumer does not handle: then the reason is shown.
    await expect.poll(async () => (await natter('list')).output).not.toContain('a defect');
    await inPostgres('DELETE FROM channels.parked_event');
  });
});
