import { readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import type { System } from '@natter/local/system';
import { derivedPassword } from '@natter/service-kit';
import { exchange } from '@natter/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../api.ts';
import { proxyTo } from '../chaos/proxy.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { byFours, operatorSettings, runNatter } from '../operator-command.ts';

let system: System;
let dataDir: string;
let settings: Record<string, string>;
beforeAll(async () => {
  dataDir = await dataDirectory();
  system = await openSystem({ dataDir });
  settings = await operatorSettings(system, dataDir);
});
afterAll(() => system?.stop());

const natter = (...args: string[]) => natterWith({}, ...args);
const natterWith = (others: Record<string, string>, ...args: string[]) => runNatter({ ...settings, ...others }, args);

const field = (output: string, name: string): string => new RegExp(`^${name}: (.+)$`, 'm').exec(output)?.[1] ?? '';

/** fetch does not permit a Host header. */
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

async function inPostgres(text: string): Promise<number> {
  const client = new pg.Client({ connectionString: system.servers.postgresUrl });
  await client.connect();
  return (await client.query(text).finally(() => client.end())).rowCount ?? 0;
}

test('a command reports that its connection to Postgres ended', async () => {
  const link = await proxyTo(system.servers.postgresUrl);
  const locker = new pg.Client({ connectionString: system.servers.postgresUrl });
  await locker.connect();
  await locker.query('BEGIN; LOCK TABLE channels.parked_event');
  const listed = natterWith({ NATTER_POSTGRES_ADMIN_URL: link.url }, 'parked', 'list');
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%AS "to apply"%'`;
  await expect.poll(() => inPostgres(waiting)).toBe(1);
  link.strand();
  link.heal();
  expect(await listed).toMatchObject({ code: 1, output: expect.stringMatching(/^natter parked list: [^\n]*\n$/) });
  await locker.end();
  link.close();
});

describe('natter doctor --deep', () => {
  const hostOfRealm = async (): Promise<string> =>
    JSON.parse((await natter('realm', 'list', '--json')).printed)[0].host;

  test('confirms that the projections of a realm equal their source', async () => {
    for (const which of [
      ['--deep', await hostOfRealm()],
      ['--sample', '5'],
    ]) {
      const { code, output } = await natter('doctor', '--wait', '60', ...which);
      expect(output).not.toContain('FAIL');
      expect(output).toContain('ok    projection channels.person: equals its source in 1 realm');
      expect(output).toContain('ok    projection messaging.channel: equals its source in 1 realm');
      expect(code).toBe(0);
    }
  });

  test('reports the rows of a projection that differ', async () => {
    const { user_id } = system.people.member;
    const setRole = (role: string) =>
      inPostgres(`UPDATE channels.person SET role = ${role} WHERE user_id = ${user_id}`);
    await setRole('600');
    const { code, output } = await natter('doctor', '--deep', await hostOfRealm());
    await setRole('400');
    const line = output.split('\n').find((text) => text.startsWith('FAIL  projection channels.person: '));
    expect(line).toMatch(
      new RegExp(`2 rows differ; extra .*"user_id": ?${user_id}[,}].*; missing .*"user_id": ?${user_id}[,}]`),
    );
    expect(output).toContain('ok    projection messaging.channel: ');
    expect(code).toBe(1);
  });

  test('rejects an unknown host and a combination of both options', async () => {
    const unknown = await natter('doctor', '--deep', 'nowhere.example.com');
    expect([unknown.code, unknown.output]).toEqual([
      1,
      expect.stringContaining('FAIL  projections: no realm has the host nowhere.example.com'),
    ]);
    expect((await natter('doctor', '--deep', 'a', '--sample', '1')).code).toBe(2);
    expect((await natter('doctor', '--sample', 'all')).code).toBe(2);
  });
});

describe('natter doctor', () => {
  test('reports no problem in a healthy system', async () => {
    const { code, output } = await natter('doctor', '--wait', '60', '--url', system.url);
    expect(output).not.toContain('FAIL');
    expect(output).toContain('ok    gateway');
    expect(code).toBe(0);
  });

  test('reports a parked event', async () => {
    await inPostgres(
      "INSERT INTO channels.parked_event (realm_id, name, number, error) VALUES (1, 'people', 1, 'test')",
    );
    const { code, output } = await natter('doctor');
    await inPostgres('DELETE FROM channels.parked_event');
    expect([code, output]).toEqual([1, expect.stringContaining('FAIL  consumer channels.people: 1 events are parked')]);
  });

  test('reports a missing migration', async () => {
    await inPostgres("DELETE FROM public.migration WHERE name = '007-each-service.sql'");
    const { code, output } = await natter('doctor');
    await inPostgres("INSERT INTO public.migration (name) VALUES ('007-each-service.sql')");
    expect([code, output]).toEqual([1, expect.stringContaining('FAIL  migrations: missing: 007-each-service.sql')]);
  });

  test.each(['presence', 'scheduler', 'gateway'])('reports the service %s if it does not respond', async (name) => {
    const children = system.children.filter(({ program }) => program === name);
    for (const child of children) child.kill('SIGSTOP');
    const { code, output } = await natter('doctor');
    for (const child of children) child.kill('SIGCONT');
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(
        `FAIL  ${name}: no instance answers (see docs/operating/runbooks/NatterServiceMissing.md)`,
      ),
    ]);
  });

  test('reports a password that Postgres rejects, which `natter migrate` sets only on request', async () => {
    const wrong = { NATTER_POSTGRES_PASSWORD_PRESENCE: 'another' };
    const { code, output } = await natterWith(wrong, 'doctor');
    expect([code, output]).toEqual([1, expect.stringContaining('FAIL  password of presence: Postgres refuses it')]);
    expect(output).toContain('(see docs/operating/runbooks/NatterPostgresAway.md)');
    const kept = await natterWith(wrong, 'migrate');
    expect([kept.code, kept.output]).toEqual([0, expect.not.stringContaining('set the password')]);
    expect((await natter('doctor')).output).toContain('ok    passwords');
    const set = await natterWith(wrong, 'migrate', '--set-passwords');
    expect([set.code, set.output]).toEqual([0, expect.stringContaining('set the password of natter_presence')]);
    expect((await natter('doctor')).output).toContain('FAIL  password of presence');
    expect((await natter('migrate', '--set-passwords')).code).toBe(0);
    expect((await natter('doctor')).output).toContain('ok    passwords');
  });

  test('reports a consumer that lags', async () => {
    const channels = system.children.find(({ program }) => program === 'channels');
    channels?.kill('SIGSTOP');
    try {
      const { status } = await request(system.url, system.people.owner, 'POST /users/me/status', {
        status_text: 'behind',
      });
      expect(status).toBe(200);
      await expect
        .poll(async () => (await natter('doctor', '--max-lag', '0.5')).output)
        .toMatch(/FAIL {2}consumer channels\.\w+: \d+ s behind in a realm \(see .*NatterConsumerLagging\.md\)/);
    } finally {
      channels?.kill('SIGCONT');
    }
  });

  test('reports a clock that differs from that of Postgres', async () => {
    const moved = 'const now=Date.now;Date.now=()=>now.call(Date)+60000';
    const options = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(moved)}` };
    const { code, output } = await natterWith(options, 'doctor');
    expect(code).toBe(1);
    expect(output).toMatch(
      /FAIL {2}clock: .* differ by \d+\.\d s \(see docs\/operating\/command\.md#clocks-that-differ\)/,
    );
  });

  test('reports an unreachable gateway', async () => {
    const { code, output } = await natter('doctor', '--url', 'http://127.0.0.1:1');
    expect([code, output]).toEqual([1, expect.stringContaining('FAIL  gateway: http://127.0.0.1:1 is not reached')]);
    expect(output).toContain('(see docs/operating/command.md#an-unreachable-gateway)');
  });

  test('reports a server that is down, and checks the rest', async () => {
    await system.servers.redis.kill('SIGKILL');
    const { code, output } = await natter('doctor');
    await system.servers.redis.start();
    expect([code, output]).toEqual([1, expect.stringContaining('FAIL  Redis')]);
    expect(output).toContain('ok    NATS');
  });
});

describe('an operator', () => {
  test('sets and removes the token key of a realm from a file', async () => {
    const file = join(dataDir, 'token-key');
    await writeFile(file, `${'k'.repeat(32)}\n`);
    const realm = ['realm', 'jwt', '--host', 'localhost'];
    const key = ['--key-file', file];
    expect(await natter(...realm, '--algorithm', 'HS256', ...key)).toMatchObject({ code: 0 });
    expect(await natter(...realm, '--algorithm', 'HS512', ...key)).toMatchObject({ code: 1 });
    for (const wrong of [[], key, ['--algorithm', 'none', ...key], ['--off', ...key]])
      expect(await natter(...realm, ...wrong)).toMatchObject({ code: 2 });
    expect((await natter(...realm, '--off')).output).not.toContain('kkk');
  });

  test('creates a realm once, and its owner can log in', async () => {
    const made = ['realm', 'create', '--host', 'other.example', '--name', 'Other', '--owner-email', 'o@other.example'];
    const { code, output } = await natter(...made);
    expect(code).toBe(0);
    const me = await meAt('other.example', `o@other.example:${field(output, 'api_key')}`);
    expect([me.email, me.is_owner]).toEqual(['o@other.example', true]);
    const again = await natter(...made);
    expect([again.code, again.output]).toEqual([1, expect.stringContaining('exists already')]);
  });

  test('sets the URL of a realm when creating it and later', async () => {
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

  test('creates a key for a user and revokes all keys of that user', async () => {
    const { email } = system.people.guest;
    const issued = await natter('key', 'create', '--host', 'localhost', '--email', email);
    const guest = { email, api_key: field(issued.output, 'api_key') };
    expect((await request(system.url, guest, 'GET /users/me')).status).toBe(200);
    const revoked = await natter('key', 'revoke', '--host', 'localhost', '--email', email);
    expect([revoked.code, revoked.output]).toEqual([0, expect.stringContaining(`2 keys of ${email} ended`)]);
    await expect.poll(async () => (await request(system.url, guest, 'GET /users/me')).status).toBe(401);
    expect((await request(system.url, system.people.guest, 'GET /users/me')).status).toBe(401);
  });

  test('revokes the keys of a bot, and its owner is then shown none', async () => {
    const { owner } = system.people;
    const { body: made } = await request(system.url, owner, 'POST /bots', { full_name: 'Leaky', short_name: 'leaky' });
    const email = (await request(system.url, owner, `GET /users/${made.user_id}`)).body.user.email;
    const bot = ['--host', 'localhost', '--email', email];
    const shown = async () => (await request(system.url, owner, `GET /bots/${made.user_id}/api_key`)).body.api_key;
    const { body: queue } = await request(system.url, owner, 'POST /register', { event_types: ['realm_bot'] });
    // A key that the command made is not the one that the owner is shown.
    const issued = { email, api_key: field((await natter('key', 'create', ...bot)).output, 'api_key') };
    const { api_keys } = (await request(system.url, issued, 'GET /users/me/api_keys')).body;
    const { id } = api_keys.find(({ is_current }: { is_current: boolean }) => is_current);
    expect((await request(system.url, issued, `DELETE /users/me/api_keys/${id}`)).status).toBe(200);
    expect(await shown()).toBe(made.api_key);
    expect((await natter('key', 'revoke', ...bot)).output).toContain(`1 keys of ${email} ended`);
    expect(await shown()).toBe('');
    const poll = { queue_id: queue.queue_id, last_event_id: -1 };
    const { events } = (await request(system.url, owner, 'GET /events', poll)).body;
    expect(events).toEqual([expect.objectContaining({ op: 'update', bot: { user_id: made.user_id, api_key: '' } })]);
  });

  test('gets no key for a deactivated user or in a deactivated realm', async () => {
    const [host, email] = ['closed.example', 'o@closed.example'];
    await natter('realm', 'create', '--host', host, '--name', 'Closed', '--owner-email', email);
    expect((await natter('realm', 'deactivate', '--host', host)).code).toBe(0);
    const there = await natter('key', 'create', '--host', host, '--email', email);
    expect([there.code, there.output]).toEqual([1, expect.stringContaining('deactivated')]);
    const { owner, member2 } = system.people;
    expect((await request(system.url, owner, `DELETE /users/${member2.user_id}`)).status).toBe(200);
    const here = await natter('key', 'create', '--host', 'localhost', '--email', member2.email);
    expect([here.code, here.output]).toEqual([1, expect.stringContaining('Only active users have keys')]);
  });

  test('grants and revokes the right of a user to create accounts', async () => {
    const { administrator } = system.people;
    const person = ['--host', 'localhost', '--email', administrator.email];
    const create = async (number: number) => {
      const form = { email: `made${number}@example.com`, password: 'a good password', full_name: `Made ${number}` };
      return (await request(system.url, administrator, 'POST /users', form)).status;
    };
    const taken = await natter('user', 'rights', ...person, '--create-users', 'no');
    expect([taken.code, taken.output]).toEqual([0, expect.stringContaining('rights of')]);
    expect(await create(1)).toBe(400);
    const given = await natter('user', 'rights', ...person, '--create-users', 'yes', '--json');
    expect(JSON.parse(given.printed)).toMatchObject({ email: administrator.email, can_create_users: true });
    expect(await create(1)).toBe(200);
    for (const wrong of [[], ['--create-users', 'perhaps']])
      expect((await natter('user', 'rights', ...person, ...wrong)).code).toBe(2);
  });

  test('allows a bot, but not a person, to send in the name of others', async () => {
    const { owner, member } = system.people;
    const made = await request(system.url, owner, 'POST /bots', { full_name: 'Mirror', short_name: 'mirror' });
    const { user_id, api_key } = made.body;
    const { body } = await request(system.url, owner, `GET /users/${user_id}`);
    const bot = { email: body.user.email, api_key };
    const send = async () => {
      const form = { type: 'direct', to: JSON.stringify([user_id]), content: 'x', sender: member.email };
      return (await request(system.url, bot, 'POST /messages', form)).status;
    };
    const rights = (email: string, may: string) =>
      natter('user', 'rights', '--host', 'localhost', '--email', email, '--forge-sender', may);
    expect(await send()).toBe(400);
    expect((await rights(bot.email, 'yes')).code).toBe(0);
    expect(await send()).toBe(200);
    expect((await rights(bot.email, 'no')).code).toBe(0);
    expect(await send()).toBe(400);
    expect((await rights(member.email, 'yes')).code).toBe(1);
  });

  test('gets an error for an unknown host, even if there is a default realm', async () => {
    const { email } = system.people.owner;
    const host = ['--host', 'localhots'];
    const refused = [
      ['key', 'create', ...host, '--email', email],
      ['key', 'revoke', ...host, '--email', email],
      ['realm', 'url', ...host, '--url', 'http://localhots'],
      ['realm', 'deactivate', ...host],
      ['realm', 'reactivate', ...host],
      ['realm', 'delete', ...host, '--confirm', 'Natter'],
      ['user', 'list', ...host],
      ['user', 'create', ...host, '--email', 'new@localhots', '--name', 'New'],
      ['user', 'role', ...host, '--email', email, '--role', 'member'],
      ['user', 'reset-link', ...host, '--email', email],
      ['key', 'list', ...host],
      ['channel', 'list', ...host],
      ['queue', 'list', ...host],
    ];
    await byFours(refused, async (args) => {
      const { code, output } = await natter(...args);
      expect([code, output]).toEqual([1, expect.stringContaining('no realm has the host localhots')]);
    });
    expect((await request(system.url, system.people.owner, 'GET /users/me')).status).toBe(200);
  });

  test('gets help for each command, and each response as JSON', async () => {
    const { printed: list } = await natter('--help');
    const names = [...list.matchAll(/^ {2}([a-z]+(?:[ -][a-z]+)*) {2,}/gm)].map((match) => match[1] ?? '');
    expect(names.length).toBeGreaterThan(10);
    await byFours(names, async (name) => {
      const { code, printed } = await natter(...name.split(' '), '--help');
      expect([name, code, printed]).toEqual([name, 0, expect.stringContaining(`usage: natter ${name}`)]);
    });
    const realms = JSON.parse((await natter('realm', 'list', '--json')).printed);
    expect(realms).toContainEqual(expect.objectContaining({ host: 'localhost', default: true }));
    const { printed } = await natter(
      'key',
      'create',
      '--host',
      'localhost',
      '--email',
      system.people.member.email,
      '--json',
    );
    const key = JSON.parse(printed);
    const member = { email: system.people.member.email, api_key: key.api_key };
    expect((await request(system.url, member, 'GET /users/me')).status).toBe(200);
    expect(JSON.parse((await natter('parked', 'list', '--json')).printed)).toEqual([]);
    expect(JSON.parse((await natter('migrate', '--json')).printed)).toMatchObject({ is_current: true });
    expect(JSON.parse((await natter('doctor', '--json')).printed)).toContainEqual(
      expect.objectContaining({ state: 'ok', subject: 'migrations' }),
    );
  });

  test('gets a usage error for an invalid command', async () => {
    for (const args of [['realm', 'create', '--host', 'x.example'], ['key', 'create', '--hots', 'x'], ['dance']]) {
      const { code, output } = await natter(...args);
      expect([code, output]).toEqual([2, expect.stringContaining('usage: natter')]);
    }
  });

  test('is the only one with these rights, so that a service cannot request a key', async () => {
    const secret = (await readFile(join(dataDir, 'service-password'), 'utf8')).trim();
    const pass = derivedPassword(secret, 'nats presence');
    const { host } = new URL(system.natsUrl);
    const connection = await connect({ servers: host, user: 'presence', pass, inboxPrefix: '_INBOX.presence' });
    const meta = { requestId: 'test', realmId: 1, client: 'test' };
    const payload = JSON.stringify({ meta, params: { email: system.people.owner.email } });
    const asked = connection.request('natter.users.issue-api-key.presence', payload, { timeout: 60_000 });
    await expect(asked).rejects.toThrow('Permissions Violation');
    await connection.close();
  });

  test('advances all numbers after a restore, so that earlier queues end and users continue', async () => {
    const { owner } = system.people;
    const send = async (): Promise<number> => {
      const form = { type: 'channel', to: 'general', topic: 'restored', content: 'hello' };
      const { status, body } = await request(system.url, owner, 'POST /messages', form);
      expect(status).toBe(200);
      return body.id;
    };
    const { body: queue } = await request(system.url, owner, 'POST /register', { event_types: ['message'] });
    const before = await send();
    const { code, output } = await natter('after-restore', '--margin', '5000');
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/realms begin a new epoch[\s\S]* keys forgotten in Redis/),
    ]);
    expect(await send()).toBeGreaterThan(before + 5_000);
    const poll = { queue_id: queue.queue_id, last_event_id: -1, dont_block: true };
    await expect
      .poll(async () => (await request(system.url, owner, 'GET /events', poll)).body.code)
      .toBe('BAD_EVENT_QUEUE_ID');
    expect((await natter('realm', 'list')).output).toMatch(/localhost/);
    expect((await natter('migrate')).output).toContain('the database is up to date');
  });
});
