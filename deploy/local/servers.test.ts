import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bringServers, type Servers } from './servers.ts';

interface Connection {
  connect(): Promise<unknown>;
  query(sql: string): Promise<{ rows: unknown[] }>;
  end(): Promise<void>;
}
const { Client } = createRequire(import.meta.url)('pg') as {
  Client: new (options: { connectionString: string }) => Connection;
};

let dataDir: string;
let servers: Servers;
const lines: string[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'natter-servers-'));
  servers = await bringServers({ dataDir, env: ownServersOnly(), log: (line) => lines.push(line) });
});

afterAll(async () => {
  await servers?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('each server answers', async () => {
  expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await redis('PING')).toBe('+PONG');
  expect(await natsInfo()).toMatch(/^INFO \{/);
});

test('PostgreSQL is durable, uses UTF-8, sorts by code point and handles case beyond ASCII', async () => {
  const rows = await query(`SELECT current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
    current_setting('max_connections') AS connections, 'a' > 'B' AS by_code_point, lower('É') AS lower`);
  expect(rows).toEqual([{ encoding: 'UTF8', fsync: 'on', connections: '300', by_code_point: true, lower: 'é' }]);
});

test('Redis rejects a client without a password', async () => {
  const { port } = new URL(servers.redisUrl);
  expect(await exchange(Number(port), 'PING\r\n', /\r\n/)).toMatch(/^-NOAUTH/);
});

test('servers keep their data and ports after a stop and a restart', async () => {
  await query('CREATE TABLE kept (value text)');
  await query(`INSERT INTO kept VALUES ('still here')`);
  const { postgresUrl, redisUrl, natsUrl } = servers;
  await servers.stop();
  await expect(query('SELECT 1')).rejects.toThrow();
  servers = await bringServers({ dataDir, env: ownServersOnly(), log: (line) => lines.push(line) });
  expect(await query('SELECT value FROM kept')).toEqual([{ value: 'still here' }]);
  expect([servers.postgresUrl, servers.redisUrl, servers.natsUrl]).toEqual([postgresUrl, redisUrl, natsUrl]);
});

test.each(['postgres', 'redis', 'nats'] as const)('%s can be killed and started again', async (name) => {
  const before = servers[name].pid;
  await servers[name].kill('SIGKILL');
  await servers[name].start();
  expect(servers[name].pid).not.toBe(before);
  if (name === 'postgres') expect(await query('SELECT value FROM kept')).toEqual([{ value: 'still here' }]);
  if (name === 'redis') expect(await redis('PING')).toBe('+PONG');
  if (name === 'nats') expect(await natsInfo()).toMatch(/^INFO/);
});

test.each(['postgres', 'redis', 'nats'] as const)(
  '%s is started again when it ends by itself, until it is stopped',
  async (name) => {
    const { pid } = servers[name];
    if (name === 'postgres') await query(`CREATE TABLE IF NOT EXISTS ended (value text)`);
    lines.length = 0;
    process.kill(pid ?? 0, 'SIGKILL');
    await expect.poll(() => lines.join()).toContain(`${name} ended with SIGKILL and is started again`);
    await servers[name].start();
    expect(servers[name].pid).not.toBe(pid);
    if (name === 'postgres') expect(await query('SELECT count(*)::int AS count FROM ended')).toEqual([{ count: 0 }]);
    if (name === 'redis') expect(await redis('PING')).toBe('+PONG');
    if (name === 'nats') expect(await natsInfo()).toMatch(/^INFO/);

    // A stop ends a start in progress too.
    process.kill(servers[name].pid ?? 0, 'SIGKILL');
    await expect.poll(() => lines.filter((line) => line.includes('is started again')).length).toBe(2);
    await servers[name].stop();
    await expect(name === 'postgres' ? query('SELECT 1') : exchange(portOf(name), '', /./)).rejects.toThrow();
    await servers[name].start();
  },
);

test('a paused server answers after it is continued', async () => {
  await servers.redis.kill('SIGSTOP');
  const answer = redis('PING');
  expect(await Promise.race([answer, new Promise((done) => setTimeout(done, 200, 'silent'))])).toBe('silent');
  await servers.redis.kill('SIGCONT');
  expect(await answer).toBe('+PONG');
});

test('a start with a data directory in use is rejected, and the servers in it keep running', async () => {
  await expect(bringServers({ dataDir, env: ownServersOnly() })).rejects.toThrow(/in use/);
  expect(await redis('PING')).toBe('+PONG');
});

test('another data directory has its own servers and NATS users, and durable Redis keeps its data', async () => {
  const otherDir = await mkdtemp(join(tmpdir(), 'natter-servers-'));
  const options = {
    dataDir: otherDir,
    durableRedis: true,
    natsConfig: 'authorization { user: a, password: b }',
    env: ownServersOnly(),
  };
  const other = await bringServers(options);
  try {
    expect(other.postgresUrl).not.toBe(servers.postgresUrl);
    expect(await natsInfo(other)).toContain('"auth_required":true');
    expect(await redis('SET kept yes', other)).toBe('+OK');
    await other.redis.stop();
    await other.redis.start();
    expect(await redis('EXISTS kept', other)).toBe(':1');
  } finally {
    await other.stop();
    await rm(otherDir, { recursive: true, force: true });
  }
});

test('the URL of a server in the environment is used unchanged', async () => {
  const env = { NATTER_POSTGRES_URL: 'postgres://p', NATTER_REDIS_URL: 'redis://r', NATTER_NATS_URL: 'nats://n' };
  const external = await bringServers({ dataDir, env });
  expect([external.postgresUrl, external.redisUrl, external.natsUrl]).toEqual(Object.values(env));
  await expect(external.redis.kill('SIGKILL')).rejects.toThrow('NATTER_REDIS_URL');
  await external.stop();
});

function ownServersOnly(): NodeJS.ProcessEnv {
  return { ...process.env, NATTER_POSTGRES_URL: '', NATTER_REDIS_URL: '', NATTER_NATS_URL: '' };
}

async function query(sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: servers.postgresUrl });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function redis(command: string, from = servers): Promise<string | undefined> {
  const { port, password } = new URL(from.redisUrl);
  const answers = await exchange(Number(port), `AUTH ${password}\r\n${command}\r\n`, /\r\n.*\r\n/);
  return answers.split('\r\n')[1];
}

function natsInfo(from = servers): Promise<string> {
  return exchange(Number(new URL(from.natsUrl).port), '', /\r\n/);
}

const portOf = (name: 'redis' | 'nats'): number => Number(new URL(servers[`${name}Url`]).port);

function exchange(port: number, send: string, until: RegExp): Promise<string> {
  return new Promise((done, fail) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(send));
    let received = '';
    socket.on('error', fail);
    socket.on('data', (chunk) => {
      received += chunk.toString();
      if (!until.test(received)) return;
      socket.destroy();
      done(received);
    });
  });
}
