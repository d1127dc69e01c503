import { spawn } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { type System, startSystem } from '@natter/local/system';
import { derivedPassword } from '@natter/service-kit';
import { exchange } from '@natter/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { request } from '../api.ts';

let system: System;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'natter-operator-'));
  system = await startSystem({ dataDir, log: () => undefined });
});
afterAll(() => system?.stop());

const entry = join(import.meta.dirname, '..', '..', 'deploy', 'admin', 'src', 'natter.ts');

function natter(...args: string[]): Promise<{ code: number; output: string }> {
  const env = {
    ...process.env,
    NATTER_NATS_URL: system.natsUrl,
    NATTER_REDIS_URL: system.redisUrl,
    NATTER_POSTGRES_ADMIN_URL: system.servers.postgresUrl,
    NATTER_SECRET: 'a secret of this test',
  };
  const child = spawn(process.execPath, [entry, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? -1, output })));
}

const field = (output: string, name: string): string => new RegExp(`^${name}: (.+)$`, 'm').exec(output)?.[1] ?? '';

/** fetch does not let a Host header through. */
function meAt(host: string, auth: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const options = { headers: { host }, auth, agent: false };
    get(`${system.url}/api/v1/users/me`, options, async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve(JSON.parse(body));
    }).once('error', reject);
  });
}

async function inPostgres(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: system.servers.postgresUrl });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

describe('natter parked', () => {
  const named = ['--service', 'channels', '--consumer', 'people', '--realm', '1', '--number', '1'];
  const park = () =>
    inPostgres("INSERT INTO channels.parked_event (realm_id, name, number, error) VALUES (1, 'people', 1, 'a defect')");

  test('lists what a consumer put aside, and drops it', async () => {
    await park();
    expect((await natter('parked', 'list')).output).toContain('a defect');
    expect(await natter('parked', 'drop', ...named)).toMatchObject({ code: 0 });
    expect((await natter('parked', 'list')).output).toContain('no event is parked');
    expect(await natter('parked', 'drop', ...named)).toMatchObject({ code: 1 });
    expect(await natter('parked', 'drop', ...named.slice(2))).toMatchObject({ code: 2 });
  });

  test('lets the service apply it once more', async () => {
    await park();
    expect(await natter('parked', 'apply', ...named)).toMatchObject({ code: 0 });
    await vi.waitFor(
      async () => {
        // Applied, or no event of a type that the consumer acts on: then the reason is told.
        const { output } = await natter('parked', 'list');
        expect(output).not.toContain('a defect');
      },
      { timeout: 30_000, interval: 500 },
    );
    await inPostgres('DELETE FROM channels.parked_event');
  });
});

describe('natter doctor', () => {
  test('finds nothing wrong with a system that is well', async () => {
    const { code, output } = await natter('doctor', '--url', system.url);
    expect(output).not.toContain('FAIL');
    expect(output).toContain('ok    gateway');
    expect(code).toBe(0);
  });

  test('tells of an event that a consumer put aside', async () => {
    await inPostgres(
      "INSERT INTO channels.parked_event (realm_id, name, number, error) VALUES (1, 'people', 1, 'test')",
    );
    const { code, output } = await natter('doctor');
    await inPostgres('DELETE FROM channels.parked_event');
    expect([code, output]).toEqual([1, expect.stringContaining('FAIL  consumer channels.people: 1 events are parked')]);
  });

  test('tells of a migration that is missing', async () => {
    await inPostgres("DELETE FROM public.migration WHERE name = '007-each-service.sql'");
    const { code, output } = await natter('doctor');
    await inPostgres("INSERT INTO public.migration (name) VALUES ('007-each-service.sql')");
    expect([code, output]).toEqual([1, expect.stringContaining('FAIL  migrations: missing: 007-each-service.sql')]);
  });

  test('tells of a service that does not answer', async () => {
    const presence = system.children.find(({ program }) => program === 'presence');
    presence?.kill('SIGSTOP');
    const { code, output } = await natter('doctor');
    presence?.kill('SIGCONT');
    expect([code, output]).toEqual([1, expect.stringContaining('FAIL  presence: no instance answers')]);
  });

  test('tells of a server that is away, and examines the rest', async () => {
    await system.servers.redis.kill('SIGKILL');
    const { code, output } = await natter('doctor');
    await system.servers.redis.start();
    expect([code, output]).toEqual([1, expect.stringContaining('FAIL  Redis')]);
    expect(output).toContain('ok    NATS');
  });
});

describe('an operator', () => {
  test('makes a realm once, whose owner can begin', async () => {
    const made = ['realm', 'create', '--host', 'other.example', '--name', 'Other', '--owner-email', 'o@other.example'];
    const { code, output } = await natter(...made);
    expect(code).toBe(0);
    const me = await meAt('other.example', `o@other.example:${field(output, 'api_key')}`);
    expect([me.email, me.is_owner]).toEqual(['o@other.example', true]);
    const again = await natter(...made);
    expect([again.code, again.output]).toEqual([1, expect.stringContaining('exists already')]);
  });

  test('says where links to a realm lead, when it is made and later', async () => {
    const realmUrl = async (): Promise<string> => {
      const { body } = await exchange(`${system.url}/api/v1/server_settings`, 'GET', '', { host: 'links.example' });
      return body.realm_url;
    };
    const named = ['--name', 'Links', '--owner-email', 'o@links.example'];
    const make = (...url: string[]) => natter('realm', 'create', '--host', 'links.example', ...named, ...url);
    for (const url of [
      'https://evil.example',
      'https://links.example/path',
      'https://a@links.example',
      'links.example',
    ])
      expect((await make('--url', url)).code).not.toBe(0);
    expect((await make()).code).toBe(0);
    expect(await realmUrl()).toBe('https://links.example');
    const set = (url: string) => natter('realm', 'url', '--host', 'links.example', '--url', url);
    expect((await set('https://evil.example')).code).toBe(1);
    expect((await set('http://links.example')).code).toBe(0);
    expect(await realmUrl()).toBe('http://links.example');
  });

  test('gives a user a key and takes all of them away', async () => {
    const { email } = system.people.guest;
    const issued = await natter('key', 'create', '--host', 'localhost', '--email', email);
    const guest = { email, api_key: field(issued.output, 'api_key') };
    expect((await request(system.url, guest, 'GET', '/users/me')).status).toBe(200);
    const revoked = await natter('key', 'revoke', '--host', 'localhost', '--email', email);
    expect([revoked.code, revoked.output]).toEqual([0, expect.stringContaining(`2 keys of ${email} ended`)]);
    await expect.poll(async () => (await request(system.url, guest, 'GET', '/users/me')).status).toBe(401);
    expect((await request(system.url, system.people.guest, 'GET', '/users/me')).status).toBe(401);
  });

  test('is told what was not understood', async () => {
    for (const args of [['realm', 'create', '--host', 'x.example'], ['key', 'create', '--hots', 'x'], ['dance']]) {
      const { code, output } = await natter(...args);
      expect([code, output]).toEqual([2, expect.stringContaining('usage: natter')]);
    }
  });

  test('is the only one who may: a service that asks for a key gets none', async () => {
    const secret = (await readFile(join(dataDir, 'service-password'), 'utf8')).trim();
    const pass = derivedPassword(secret, 'nats presence');
    const { host } = new URL(system.natsUrl);
    const connection = await connect({ servers: host, user: 'presence', pass, inboxPrefix: '_INBOX.presence' });
    const meta = { requestId: 'test', realmId: 1, client: 'test' };
    const payload = JSON.stringify({ meta, params: { email: system.people.owner.email } });
    const asked = connection.request('natter.users.issue-api-key.presence', payload, { timeout: 5_000 });
    await expect(asked).rejects.toThrow('Permissions Violation');
    await connection.close();
  });

  test('brings what was restored beyond all numbers that were given; queues of before end, and people go on', async () => {
    const { owner } = system.people;
    const send = async (): Promise<number> => {
      const form = { type: 'channel', to: 'general', topic: 'restored', content: 'hello' };
      const { status, body } = await request(system.url, owner, 'POST', '/messages', form);
      expect(status).toBe(200);
      return body.id;
    };
    const { body: queue } = await request(system.url, owner, 'POST', '/register', { event_types: ['message'] });
    const before = await send();
    const { code, output } = await natter('after-restore', '--margin', '5000');
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/realms begin a new epoch[\s\S]* keys forgotten in Redis/),
    ]);
    expect(await send()).toBeGreaterThan(before + 5_000);
    const poll = { queue_id: queue.queue_id, last_event_id: -1, dont_block: true };
    await expect
      .poll(async () => (await request(system.url, owner, 'GET', '/events', poll)).body.code, { timeout: 10_000 })
      .toBe('BAD_EVENT_QUEUE_ID');
    expect((await natter('realm', 'list')).output).toMatch(/localhost/);
    expect((await natter('migrate')).output).toContain('the database is up to date');
  });
});
