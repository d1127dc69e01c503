import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { System } from '@natter/local/system';
import { Client, exchange } from '@natter/testkit';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorizationOf } from '../api.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { operatorSettings, runNatter } from '../operator-command.ts';

let system: System;
let settings: Record<string, string>;
beforeAll(async () => {
  const dataDir = await dataDirectory();
  system = await openSystem({ dataDir });
  settings = await operatorSettings(system, dataDir);
});
afterAll(() => system?.stop());

const natter = (...args: string[]) => runNatter(settings, args);
const json = async (...args: string[]) => {
  const { code, output, printed } = await natter(...args, '--json');
  expect([args.join(' '), code, output]).toEqual([args.join(' '), 0, output]);
  return JSON.parse(printed);
};

/** A realm with its owner, as the command makes it. */
async function createRealm(
  host: string,
  ...more: string[]
): Promise<{ id: number; owner: Client; channels: string[] }> {
  const email = `owner@${host}`;
  const made = await json('realm', 'create', '--host', host, '--name', `Of ${host}`, '--owner-email', email, ...more);
  const owner = new Client({ url: system.url, host }, { ...made, full_name: 'Owner' });
  return { id: made.realm_id, owner, channels: made.channels };
}

async function createUser(host: string, name: string): Promise<Client> {
  const made = await json('user', 'create', '--host', host, '--email', `${name}@${host}`, '--name', name);
  return new Client({ url: system.url, host }, { ...made, full_name: name });
}

async function inPostgres<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
  const client = new pg.Client({ connectionString: system.servers.postgresUrl });
  await client.connect();
  return (await client.query<R>(text, values).finally(() => client.end())).rows;
}

/** Tables that hold rows of the realm, with their numbers of rows. */
async function rowsOf(realmId: number): Promise<Record<string, number>> {
  const tables = await inPostgres<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.columns
    WHERE column_name = 'realm_id' AND table_schema IN ('log', 'users', 'channels', 'messaging', 'event_queue', 'presence')`,
  );
  const counts = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await inPostgres<{ count: number }>(`SELECT count(*)::int FROM ${name} WHERE realm_id = $1`, [
        realmId,
      ]);
      return [name, row?.count ?? 0] as const;
    }),
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

async function redisKeysOf(realmId: number): Promise<string[]> {
  const redis = new Redis(settings.NATTER_REDIS_URL ?? '', { disableClientInfo: true });
  const found: string[] = [];
  for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `natter:{${realmId}}:*`);
    cursor = next;
    found.push(...keys);
  }
  redis.disconnect();
  return found;
}

test('a command connects again when its first connection to Postgres is cut', async () => {
  const postgres = new URL(system.servers.postgresUrl);
  const [port, host] = [Number(postgres.port), postgres.hostname];
  let count = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (count++ === 0) return void socket.destroy();
    const upstream = connect(port, host);
    upstream.on('error', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  postgres.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const listed = await runNatter({ ...settings, NATTER_POSTGRES_ADMIN_URL: String(postgres) }, ['realm', 'list']);
  server.close();
  expect(listed).toEqual(await natter('realm', 'list'));
  expect([listed.code, count]).toEqual([0, 2]);
});

describe('natter realm create', () => {
  test('creates a realm, its owner and default channels for new users', async () => {
    const { owner, channels } = await createRealm('made.example');
    expect(channels).toEqual(['general', 'sandbox']);
    const member = await createUser('made.example', 'mia');
    await expect
      .poll(async () =>
        (await member.ok('GET', '/users/me/subscriptions')).subscriptions
          .map((one: { name: string }) => one.name)
          .sort(),
      )
      .toEqual(['general', 'sandbox']);
    expect((await owner.ok('GET', '/users/me')).is_owner).toBe(true);
    const listed = await json('channel', 'list', '--host', 'made.example');
    expect(listed).toMatchObject([
      { name: 'general', is_default: true, is_private: false, subscribers: 2 },
      { name: 'sandbox', is_default: true, is_private: false, subscribers: 2 },
    ]);
    expect((await createRealm('bare.example', '--channels', '')).channels).toEqual([]);
    expect(await json('channel', 'list', '--host', 'bare.example')).toEqual([]);
  });

  test('does not create a realm if the owner is rejected', async () => {
    const named = ['realm', 'create', '--host', 'half.example', '--name', 'Half', '--owner-email'];
    expect((await natter(...named, 'no address')).code).toBe(1);
    const hosts = (await json('realm', 'list')).map(({ host }: { host: string }) => host);
    expect(hosts).not.toContain('half.example');
    expect((await natter(...named, 'o@half.example')).code).toBe(0);
  });
});

describe('natter user, key and queue', () => {
  test('list and create, change a role, and create a link to set a password', async () => {
    const host = 'people.example';
    const { owner } = await createRealm(host);
    const member = await createUser(host, 'max');
    const named = ['--host', host, '--email', member.email];
    expect((await natter('user', 'role', ...named, '--role', 'king')).code).toBe(2);
    expect((await natter('user', 'role', ...named, '--role', 'administrator')).code).toBe(0);
    await expect.poll(async () => (await member.ok('GET', '/users/me')).is_admin).toBe(true);
    const last = await natter('user', 'role', '--host', host, '--email', owner.email, '--role', 'member');
    expect([last.code, last.output]).toEqual([1, expect.stringContaining('only organization owner')]);
    expect((await natter('user', 'role', '--host', host, '--email', 'nobody@x', '--role', 'member')).code).toBe(1);
    const { link } = await json('user', 'reset-link', ...named);
    expect(link).toMatch(/^https:\/\/people\.example\/accounts\/password\/reset\/[\w-]+$/);
    const path = `/${new URL(link).pathname}`;
    const password = 'correct horse battery';
    const anybody = new Client({ url: system.url, host });
    expect((await anybody.post(path, { password })).status).toBe(200);
    expect((await anybody.post(path, { password })).status).not.toBe(200);
    const login = await anybody.post('/fetch_api_key', { username: member.email, password });
    expect([login.status, login.body.email]).toEqual([200, member.email]);
    expect(await json('user', 'list', '--host', host)).toEqual([
      expect.objectContaining({ email: owner.email, role: 'owner', is_active: true, is_bot: false, keys: 1 }),
      expect.objectContaining({ email: member.email, role: 'administrator', keys: 1 }),
    ]);
    const keys = await json('key', 'list', '--host', host, '--email', member.email);
    expect(keys).toMatchObject([{ user_id: member.user_id, email: member.email }]);
    expect(JSON.stringify(keys)).not.toContain(login.body.api_key);
    expect((await natter('key', 'list', '--host', host, '--email', 'nobody@x')).code).toBe(1);
    await owner.queue({ event_types: ['message'] });
    expect(await json('queue', 'list', '--host', host)).toMatchObject([{ user_id: owner.user_id, email: owner.email }]);
  });

  test('print help for a group of commands', async () => {
    const { code, printed } = await natter('realm', '--help');
    expect([code, printed]).toEqual([0, expect.stringContaining('realm reactivate')]);
    expect(printed).not.toContain('user role');
    expect((await natter('realm')).code).toBe(2);
  });
});

test('natter realm deactivate ends all sessions, and reactivate accepts the same keys again', async () => {
  const host = 'paused.example';
  const { owner } = await createRealm(host);
  const neighbour = await createRealm('neighbour.example');
  const queue = await owner.queue({ event_types: ['typing'] });
  const held = queue.poll().catch((error: Error) => error.message);
  for (let times = 0; times < 2; times++) expect((await natter('realm', 'deactivate', '--host', host)).code).toBe(0);
  await held;
  const refused = [401, 'REALM_DEACTIVATED'];
  await expect
    .poll(async () => {
      const { status, body } = await owner.get('/users/me');
      return [status, body.code];
    })
    .toEqual(refused);
  const sent = await owner.post('/messages', { type: 'channel', to: 'general', topic: 't', content: 'hello' });
  expect([sent.status, sent.body.code]).toEqual(refused);
  const link = await natter('user', 'reset-link', '--host', host, '--email', owner.email);
  expect([link.code, link.output]).toEqual([1, expect.stringContaining('deactivated')]);
  expect(await json('realm', 'list')).toContainEqual(expect.objectContaining({ host, state: 'deactivated' }));
  expect((await neighbour.owner.get('/users/me')).status).toBe(200);
  expect((await natter('realm', 'reactivate', '--host', host)).code).toBe(0);
  expect((await owner.ok('GET', '/users/me')).email).toBe(owner.email);
  await owner.ok('POST', '/messages', { type: 'channel', to: 'general', topic: 't', content: 'again' });
});

test('a reactivated realm sends its due messages, but bot notices are deleted after a day', async () => {
  const host = 'closed.example';
  const { id, owner } = await createRealm(host);
  const form = { full_name: 'Hook', short_name: 'hook', bot_type: 3, payload_url: 'https://hook.example/' };
  const bot = await owner.ok('POST', '/bots', { ...form, interface_type: 1 });
  expect((await natter('realm', 'deactivate', '--host', host)).code).toBe(0);
  await inPostgres(
    `INSERT INTO messaging.scheduled_message (realm_id, user_id, sender_id, kind, recipient_ids, content, due_at, client)
    SELECT $1::int, $2::int, $2::int, kind, ARRAY[$2::int], kind, now() - late, 'test'
    FROM (VALUES ('notice', interval '25 hours'), ('notice', interval '1 hour'), ('message', interval '1 hour')) AS due (kind, late)`,
    [id, owner.user_id],
  );
  await inPostgres(
    'INSERT INTO messaging.webhook_delivery (realm_id, bot_id, message_id, due_at, created_at) VALUES ($1, $2, 1, now(), now())',
    [id, bot.user_id],
  );
  // The message is neither posted nor dropped, and the attempt does not count.
  const postponed = `SELECT attempts FROM messaging.webhook_delivery WHERE realm_id = $1 AND due_at > now() + interval '20 seconds'`;
  await expect.poll(() => inPostgres(postponed, [id])).toEqual([{ attempts: 0 }]);
  const ofTest = `SELECT state FROM messaging.scheduled_message WHERE realm_id = $1 AND client = 'test'`;
  await expect.poll(() => inPostgres(ofTest, [id])).toEqual([{ state: 'waiting' }, { state: 'waiting' }]);
  expect((await natter('realm', 'reactivate', '--host', host)).code).toBe(0);
  const narrow = JSON.stringify([['sender', owner.user_id]]);
  const page = { anchor: 'newest', num_before: 10, num_after: 0, apply_markdown: false, narrow };
  const arrived = async () =>
    (await owner.ok('GET', '/messages', page)).messages.map(({ content }: { content: string }) => content);
  await expect.poll(arrived).toEqual(['notice', 'message']);
});

describe('natter realm delete', () => {
  test('requires a deactivated realm and its exact name', async () => {
    const host = 'kept.example';
    const { owner, id } = await createRealm(host);
    const attempt = async (...args: string[]) => {
      const { code, output } = await natter('realm', 'delete', ...args);
      return [code, output];
    };
    const active = await attempt('--host', host, '--confirm', `Of ${host}`);
    expect(active).toEqual([1, expect.stringContaining('first natter realm deactivate')]);
    const misnamed = await attempt('--host', host, '--confirm', 'Of something else');
    expect(misnamed).toEqual([1, expect.stringContaining('another name')]);
    for (const args of [[], ['--host', host], ['--host', host, '--confirm', 'x', '--unfinished']])
      expect((await attempt(...args))[0]).toBe(2);
    expect((await owner.get('/users/me')).status).toBe(200);
    expect((await rowsOf(id))['users.account']).toBe(3);
    expect(await attempt('--unfinished')).toEqual([0, expect.stringContaining('no deletion is unfinished')]);
  });

  test('removes all data of the realm while its users send, even if it is killed halfway', async () => {
    const host = 'gone.example';
    const { owner, id } = await createRealm(host);
    const other = await createRealm('stays.example');
    await other.owner.ok('POST', '/messages', { type: 'channel', to: 'general', topic: 't', content: 'stay' });
    const members = await Promise.all(['ann', 'ben', 'cid'].map((name) => createUser(host, name)));
    await owner.ok('POST', '/users/me/status', { status_text: 'here' });
    await owner.ok('POST', '/users/me/presence', { status: 'active', new_user_input: true });
    await owner.ok('POST', '/users/me/alert_words', { alert_words: ['word'] });
    await owner.ok('POST', '/user_groups/create', { name: 'us', description: '', members: [owner.user_id] });
    await owner.ok('POST', '/invites/multiuse', {});
    await owner.ok('POST', `/users/me/muted_users/${members[0]?.user_id}`);
    const due = Math.floor(Date.now() / 1000) + 3_600;
    const later = { type: 'channel', to: 'general', topic: 't', content: 'later', scheduled_delivery_timestamp: due };
    await owner.ok('POST', '/scheduled_messages', {
      ...later,
      to: (await owner.ok('GET', '/get_stream_id', { stream: 'general' })).stream_id,
    });
    const uploaded = await upload(owner);
    expect(uploaded).toMatch(/^\/user_uploads\//);
    await owner.queue();
    const stays = await rowsOf(other.id);

    const codes = new Set<string>();
    let sent = 0;
    let isOver = false;
    const senders = members.map(async (member, number) => {
      while (!isOver) {
        const form = { type: 'channel', to: 'general', topic: `t${number}`, content: `message ${sent}` };
        const { status, body } = await member.send('POST', '/messages', form);
        if (status === 200) sent++;
        else {
          codes.add(`${status} ${body.code}`);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    });
    await expect.poll(() => sent).toBeGreaterThan(20);
    expect((await natter('realm', 'deactivate', '--host', host)).code).toBe(0);
    const confirmed = ['realm', 'delete', '--host', host, '--confirm', `Of ${host}`];
    // Another transaction holds a row that goes late, so that the command is killed halfway.
    const holder = new pg.Client({ connectionString: system.servers.postgresUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM users.account WHERE realm_id = $1 FOR UPDATE', [id]);
    const killed = await runNatter(settings, confirmed, (output, child) => {
      if (/rows$/m.test(output)) child.kill('SIGKILL');
    });
    await holder.end();
    expect([killed.code, killed.output]).toEqual([-1, expect.stringMatching(/: \d+ rows$/m)]);
    expect(await json('realm', 'list')).toContainEqual(
      expect.objectContaining({ id, host: `deleted/${id}`, state: `deleting ${host}` }),
    );
    // The host is free again, and a new realm there is not touched by the rest of the deletion.
    const next = await createRealm(host);
    const finished = await json('realm', 'delete', '--unfinished');
    expect(finished).toMatchObject([{ realm_id: id, host }]);
    isOver = true;
    await Promise.all(senders);

    expect([await rowsOf(id), await redisKeysOf(id)]).toEqual([{}, []]);
    expect(await inPostgres('SELECT id FROM users.realm WHERE id = $1', [id])).toEqual([]);
    expect([...codes].filter((code) => code.startsWith('500'))).toEqual([]);
    expect(codes).toContain('401 REALM_DEACTIVATED');
    const kept = await rowsOf(other.id);
    for (const table of ['users.account', 'channels.channel', 'channels.subscription'])
      expect([table, kept[table]]).toEqual([table, stays[table]]);
    expect(kept['messaging.message']).toBeGreaterThanOrEqual(stays['messaging.message'] ?? 1);
    await other.owner.ok('POST', '/messages', { type: 'channel', to: 'general', topic: 't', content: 'still here' });
    await next.owner.ok('POST', '/messages', { type: 'channel', to: 'general', topic: 't', content: 'new here' });
    expect((await natter('realm', 'delete', ...confirmed.slice(2, 4), '--confirm', 'another')).code).toBe(1);
  });
});

describe('natter doctor', () => {
  test('reports that Redis cannot write its files, and that its memory is nearly full', async () => {
    const redis = new Redis(system.servers.redisUrl);
    const saved = async (status: string) => {
      await redis.bgsave();
      const state = async () =>
        /rdb_bgsave_in_progress:0[\s\S]*rdb_last_bgsave_status:(\w+)/.exec(await redis.info('persistence'))?.[1];
      await expect.poll(state).toBe(status);
    };
    const page = '(see docs/operating/command.md#disks-that-are-full)';
    const [, directory] = (await redis.config('GET', 'dir')) as [string, string];
    // A snapshot replaces the file of this name, which it cannot if it is a directory.
    await rm(join(directory, 'dump.rdb'), { force: true });
    await mkdir(join(directory, 'dump.rdb', 'full'), { recursive: true });
    await saved('err');
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', String(Math.round(used * 1.005)));
    const full = await natter('doctor');
    await redis.config('SET', 'maxmemory', String(used * 10));
    await rm(join(directory, 'dump.rdb'), { recursive: true });
    await saved('ok');
    expect([full.code, full.output]).toEqual([
      1,
      expect.stringContaining(`FAIL  space of Redis: it could not write its last snapshot ${page}`),
    ]);
    expect(full.output).toMatch(/FAIL {2}memory of Redis: \d+ % of maxmemory used/);
    const { output } = await natter('doctor');
    expect(output).toMatch(/^ok {4}memory of Redis: \d+ % of maxmemory used$/m);
    expect(output).not.toMatch(/FAIL {2}(space|memory) of Redis/);
    await redis.config('SET', 'maxmemory', '0');
    redis.disconnect();
  });

  test('reports that Postgres is read-only', async () => {
    const readOnly = async (isOn: boolean) => {
      const client = new pg.Client({ connectionString: system.servers.postgresUrl });
      await client.connect();
      await client.query('SET default_transaction_read_only = off');
      await client.query(`ALTER ROLE CURRENT_USER SET default_transaction_read_only = ${isOn ? 'on' : 'off'}`);
      await client.end();
    };
    await readOnly(true);
    const { code, output } = await natter('doctor').finally(() => readOnly(false));
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(
        'FAIL  space of Postgres: it is read-only and refuses writes (see docs/operating/command.md',
      ),
    ]);
    expect((await natter('doctor')).output).toContain('ok    space of Postgres: 16 MiB could be written');
  });

  test('reports that the disk of Postgres is nearly full', async (context) => {
    const disk = await mkdtemp(join(tmpdir(), 'natter-disk-'));
    try {
      const [{ directory } = { directory: '' }] = await inPostgres<{ directory: string }>(
        "SELECT current_setting('data_directory') AS directory",
      );
      const { uid, gid } = await stat(directory);
      const options = `size=8m,mode=0700,uid=${uid},gid=${gid}`;
      await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk]);
    } catch (error) {
      return context.skip(`SKIPPED: a small disk cannot be mounted: ${(error as Error).message}`);
    }
    try {
      await inPostgres(`CREATE TABLESPACE small LOCATION '${disk}'`);
      await inPostgres('ALTER ROLE CURRENT_USER SET temp_tablespaces = small');
      const { code, output } = await natter('doctor');
      expect([code, output]).toEqual([
        1,
        expect.stringContaining('FAIL  space of Postgres: less than 16 MiB are free (see docs/operating/command.md'),
      ]);
      expect((await natter('doctor', '--free', '4')).output).toContain('ok    space of Postgres: 4 MiB');
      expect((await natter('doctor', '--free', 'much')).code).toBe(2);
    } finally {
      await inPostgres('ALTER ROLE CURRENT_USER RESET temp_tablespaces');
      await inPostgres('DROP TABLESPACE IF EXISTS small');
      await promisify(execFile)('umount', [disk]);
    }
  });
});

async function upload(owner: Client): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob(['content']), 'file.txt');
  const encoded = new Response(form);
  const { body } = await exchange(
    `${system.url}/api/v1/user_uploads`,
    'POST',
    Buffer.from(await encoded.arrayBuffer()),
    {
      host: owner.host,
      authorization: authorizationOf(owner),
      'content-type': encoded.headers.get('content-type') ?? '',
    },
  );
  return body.uri;
}
