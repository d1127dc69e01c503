import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, sql } from '@natter/database';
import type { System } from '@natter/local/system';
import { rawRequest } from '@natter/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Answer, authorizationOf, type Credentials, request } from '../api.ts';
import { withinOneWindow } from '../one-window.ts';
import { openDatabase } from '../open-servers.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { untilServed } from '../patience.ts';

let system: System;
let database: Database;
let dataDir: string;
const lines: string[] = [];
const mails: { to: string; text: string }[] = [];
const limits = { user: 120, realm: 200, anonymous: 150 };

beforeAll(async () => {
  dataDir = await dataDirectory();
  system = await openSystem({
    dataDir,
    env: {
      NATTER_RATE_LIMIT: String(limits.user),
      NATTER_RATE_LIMIT_REALM: String(limits.realm),
      NATTER_RATE_LIMIT_ANONYMOUS: String(limits.anonymous),
      NATTER_RATE_LIMIT_ANONYMOUS_FILES: '20',
      NATTER_TRUSTED_PROXIES: '127.0.0.1',
      NATTER_LOG_LEVEL: 'trace',
    },
    log: (line) => lines.push(line),
    onLine: (line) => lines.push(line),
    onMail: (mail) => mails.push(mail),
  });
  database = openDatabase(system.servers.postgresUrl, 1);
});

afterAll(async () => {
  await database?.close();
  await system?.stop();
});

const nobody: Credentials = { email: '', api_key: '' };
type Person = { email: string; password: string; api_key: string; user_id: number };

/** A new connection each time, which reaches any gateway. */
const from = (network: string) => ({ connection: 'close', 'x-forwarded-for': network });
const at = (who: Credentials, network: string) => ({ ...who, headers: from(network) });
const logIn = (username: string, password: string, network: string) =>
  request(system.url, at(nobody, network), 'POST /fetch_api_key', { username, password });
const codeOf = ({ status, body }: { status: number; body: Answer }) => [status, body.code];
const wrong = [401, 'AUTHENTICATION_FAILED'];
const limited = [429, 'RATE_LIMIT_HIT'];

let networks = 0;
/** An address that no test used before. */
const elsewhere = (): string => `198.51.100.${++networks}`;

/** Work that is counted in one minute, without the counts of other tests. */
const countedTogether = (work: () => Promise<void>): Promise<void> =>
  withinOneWindow(async () => {
    const redis = new Redis(system.servers.redisUrl);
    const counts = await redis.keys('natter:*:rate:*');
    if (counts.length > 0) await redis.del(counts);
    redis.disconnect();
    await work();
  });

/** The statuses of many requests. Ten at a time: on a busy machine single ones might take longer than a minute. */
async function statusesOf(many: number, ask: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  while (statuses.length < many)
    for (const { status } of await Promise.all(Array.from({ length: 10 }, ask))) statuses.push(status);
  return statuses;
}

test('guesses at different spellings of one name count together, and the sixth guess must wait', async () => {
  const { email } = system.people.member;
  const network = elsewhere();
  const spellings = [
    email,
    ` ${email}`,
    `\t${email}\n`,
    email.toUpperCase(),
    `\u3000${email}`,
    `  ${email}  `,
    email.replace('m', '\uff2d'),
    `\u00a0${email}`,
  ];
  const answers: (string | number)[][] = [];
  for (const spelling of spellings) answers.push(codeOf(await logIn(spelling, 'wrong', network)));
  expect(answers).toEqual([wrong, wrong, wrong, wrong, wrong, limited, limited, limited]);
  const { body } = await logIn(email, system.people.member.password, network);
  expect(body['retry-after']).toBeGreaterThan(0);
  expect(body['retry-after']).toBeLessThanOrEqual(30);
  // An unknown name is treated like an existing one.
  const unknown = elsewhere();
  const tries: (string | number)[][] = [];
  for (const name of ['nobody', ' nobody', 'NOBODY', 'nobody\t', 'Nobody', 'nobody'])
    tries.push(codeOf(await logIn(`${name}@natter.example`.replace('\t', ''), 'wrong', unknown)));
  expect(tries).toEqual([wrong, wrong, wrong, wrong, wrong, limited]);
});

test('guesses at two names of one account count separately, so that responses do not reveal the account', async () => {
  const { email, user_id } = system.people.guest;
  const network = elsewhere();
  const [same, nominal] = [email.toUpperCase(), `USER${user_id}@localhost`];
  for (let count = 0; count < 6; count++) await logIn(email, 'wrong', network);
  const [ofSame, ofNominal] = [await logIn(same, 'wrong', network), await logIn(nominal, 'wrong', network)];
  expect([codeOf(ofSame), codeOf(ofNominal)]).toEqual([limited, wrong]);
  const wrongKey = (name: string, index: number) =>
    request(system.url, at({ email: name, api_key: String(index).padStart(32, 'w') }, network), 'GET /users/me');
  for (let count = 0; count < 21; count++) await wrongKey(email, count);
  expect([codeOf(await wrongKey(same, 30)), (await wrongKey(nominal, 31)).status]).toEqual([limited, 401]);
});

test('five hundred wrong keys from one network do not reveal existing names or refuse a right key', () =>
  countedTogether(async () => {
    const { moderator, administrator } = system.people;
    const network = elsewhere();
    const by = {
      realmId: (
        await database.one(sql.type(z.object({ realm_id: z.number() }))`
      SELECT realm_id FROM users.account WHERE id = ${moderator.user_id}`)
      ).realm_id,
    };
    const redis = new Redis(system.servers.redisUrl);
    await redis.set(`natter:{${by.realmId}}:rate:wrong-key-by:${network}`, 500, 'EX', 3_600);
    redis.disconnect();
    const show = async (email: string, api_key: string) => {
      const authorization = authorizationOf({ email, api_key });
      const headers = { ...from(network), authorization };
      const response = await fetch(`${system.url}/api/v1/users/me`, { headers });
      const { 'retry-after': _, ...body } = (await response.json()) as Answer;
      const names = [...response.headers.keys()].sort();
      return { status: response.status, body, names };
    };
    const unknown = await show('nobody-at-all@natter.example', 'w'.repeat(32));
    expect(unknown).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_HIT' } });
    expect(await show(moderator.email, 'w'.repeat(32))).toEqual(unknown);
    expect((await show(administrator.email, administrator.api_key)).status).toBe(200);
  }));

test('guesses do not lock users out elsewhere, even from many networks at once', async () => {
  const { email, password } = system.people.member2;
  for (let count = 0; count < 60; count++) await logIn(email, 'wrong', `203.0.113.${count}`);
  const [first, second] = [elsewhere(), elsewhere()];
  expect((await logIn(email, password, first)).status).toBe(200);
  // An account that is attacked from many networks leaves each network one attempt.
  expect(codeOf(await logIn(email, 'wrong', second))).toEqual(wrong);
  expect(codeOf(await logIn(email, password, second))).toEqual(limited);
  expect((await logIn(email, password, first)).status).toBe(200);
});

test('a stolen key that is replaced after each guess of the password still has to wait', async () => {
  const { email, password, user_id } = system.people.owner;
  const network = elsewhere();
  const { body } = await logIn(email, password, network);
  const thief: Credentials = { email, api_key: String(body.api_key) };
  const guess = (old_password: string, place: string) =>
    request(system.url, at(thief, place), 'PATCH /settings', { old_password, new_password: 'another horse' });
  const answers: (string | number)[][] = [];
  for (let count = 0; count < 7; count++) {
    answers.push(codeOf(await guess(`wrong ${count}`, network)));
    const made = await request(system.url, at(thief, network), 'POST /users/me/api_key/regenerate');
    thief.api_key = String(made.body.api_key);
  }
  expect(answers.map(([status]) => status)).toEqual([400, 400, 400, 400, 400, 429, 429]);
  // The password is unchanged; neither a login there nor a change elsewhere is delayed.
  const again = await logIn(email, password, network);
  expect([again.status, again.body.user_id]).toEqual([200, user_id]);
  expect(codeOf(await guess('wrong', elsewhere()))).toEqual([400, 'BAD_REQUEST']);
  system.people.owner.api_key = String(again.body.api_key);
});

test('addresses of one IPv6 network share a count, and so do both notations of an IPv4 address', async () => {
  const { email, password } = system.people.moderator;
  const hosts = ['2001:db8:7:7::1', '2001:db8:7:7:a::2', '2001:db8:7:7:b:c:d:e', '2001:DB8:7:7::4', '2001:db8:7:7::5'];
  for (const host of hosts) expect(codeOf(await logIn(email, 'wrong', host))).toEqual(wrong);
  expect(codeOf(await logIn(email, password, '2001:db8:7:7:ffff::9'))).toEqual(limited);
  const { email: other, password: right } = system.people.guest;
  for (const host of ['192.0.2.9', '::ffff:192.0.2.9', '::ffff:c000:209', '192.0.2.9', '::ffff:192.0.2.9'])
    expect(codeOf(await logIn(other, 'wrong', host))).toEqual(wrong);
  expect(codeOf(await logIn(other, right, '192.0.2.9'))).toEqual(limited);
  expect((await logIn(other, right, '2001:db8:7:8::1')).status).toBe(200);
});

test('twelve simultaneous logins with the right password all succeed', async () => {
  const [network, { email, password }] = [elsewhere(), system.people.administrator];
  const logInOnce = () => untilServed(() => logIn(email, password, network));
  const answers = await Promise.all(Array.from({ length: 12 }, logInOnce));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test('wrong keys from an address do not refuse a right key or a login there', () =>
  countedTogether(async () => {
    const network = elsewhere();
    const { member, administrator } = system.people;
    const guess = { email: member.email, api_key: 'A'.repeat(32) };
    const codes = new Set<string>();
    for (let count = 0; count < limits.anonymous + 5; count++)
      codes.add(codeOf(await request(system.url, at(guess, network), 'GET /users/me')).join());
    expect([...codes].sort()).toEqual(['401,INVALID_API_KEY', limited.join()]);
    expect((await request(system.url, at(member, network), 'GET /users/me')).status).toBe(200);
    expect((await logIn(administrator.email, administrator.password, network)).status).toBe(200);
  }));

test('wrong keys for one name, in any spelling, delay only wrong keys from their network', async () => {
  const { email, api_key } = system.people.moderator;
  const show = (name: string, key: string, network: string) =>
    request(system.url, at({ email: name, api_key: key }, network), 'GET /users/me');
  const wrongKey = (index: number) => String(index).padStart(32, 'w');
  const [network, unknown] = [elsewhere(), elsewhere()];
  const names = [email, email.toUpperCase(), ` ${email} `];
  const statuses: number[] = [];
  for (let count = 0; count < 24; count++)
    statuses.push((await show(names[count % 3] ?? '', wrongKey(count), network)).status);
  expect(statuses).toEqual([...Array(20).fill(401), ...Array(4).fill(429)]);
  const late = await show(email, wrongKey(99), network);
  expect(codeOf(late)).toEqual(limited);
  expect(late.body['retry-after']).toBeGreaterThan(0);
  // A valid key from the same network, a wrong one from elsewhere, and a login are answered as usual.
  expect((await show(email, api_key, network)).status).toBe(200);
  expect((await show(email, wrongKey(0), elsewhere())).status).toBe(401);
  expect((await logIn(email, system.people.moderator.password, network)).status).toBe(200);
  // An address without an account is treated like one with an account.
  const others: number[] = [];
  for (let count = 0; count < 22; count++)
    others.push((await show('nobody-here@natter.example', wrongKey(count), unknown)).status);
  expect(others).toEqual([...Array(20).fill(401), 429, 429]);
});

test('a request has the weight of the contract', () =>
  countedTogether(async () => {
    const { administrator } = system.people;
    const left = async (method: string, path: string): Promise<number> => {
      const authorization = authorizationOf(administrator);
      const response = await fetch(`${system.url}/api/v1${path}`, { method, headers: { authorization } });
      return Number(response.headers.get('x-ratelimit-remaining'));
    };
    const before = await left('GET', '/users/me/alert_words');
    expect(await left('GET', '/users/me/alert_words')).toBe(before - 1);
    expect(await left('POST', '/register')).toBeLessThan(before - 2);
    // A poll that opens a queue counts as a register.
    const registered = await left('GET', '/users/me/alert_words');
    expect(await left('GET', '/events?dont_block=true')).toBe(registered - 10);
  }));

test('one user cannot use up the limit of the organization, which all users share, and polls continue', () =>
  countedTogether(async () => {
    const { member, member2, guest, owner } = system.people;
    const ask = (who: Person) =>
      request(system.url, { ...who, headers: { connection: 'close' } }, 'GET /users/me/alert_words');
    const { body: queue } = await request(system.url, owner, 'POST /register', { event_types: ['typing'] });
    // Requests refused to a user do not count against the organization.
    const answers = await statusesOf(limits.user + 30, () => ask(member));
    expect(answers.filter((status) => status === 200).length).toBeLessThanOrEqual(limits.user);
    expect((await ask(member2)).status).toBe(200);
    await statusesOf(limits.realm - limits.user, () => ask(member2));
    const over = await ask(guest);
    expect(codeOf(over)).toEqual(limited);
    const poll = { queue_id: queue.queue_id, last_event_id: -1, dont_block: true };
    expect((await request(system.url, owner, 'GET /events', poll)).status).toBe(200);
  }));

test('anonymous file downloads have their own limit by size, which does not affect other requests', () =>
  countedTogether(async () => {
    const { owner } = system.people;
    const authorization = authorizationOf(owner);
    const form = new FormData();
    form.append('file', new Blob([Buffer.alloc(3 * 1024 * 1024, 'x')]), 'large.bin');
    const uploaded = await fetch(`${system.url}/api/v1/user_uploads`, {
      method: 'POST',
      headers: { authorization },
      body: form,
    });
    const { url, ...said } = (await uploaded.json()) as { url: string };
    expect([uploaded.status, said]).toEqual([200, expect.anything()]);
    const { status, body } = await request(system.url, owner, `GET ${url}`);
    expect([status, body]).toEqual([200, expect.anything()]);
    const [network, other] = [elsewhere(), elsewhere()];
    const open = async (at: string): Promise<number> => {
      const response = await fetch(`${system.url}${body.url}`, { headers: from(at) });
      await response.arrayBuffer();
      return response.status;
    };
    const statuses: number[] = [];
    for (let count = 0; count < 8; count++) statuses.push(await open(network));
    expect(statuses).toEqual([...Array(6).fill(200), 429, 429]);
    expect(await open(other)).toBe(200);
    expect((await request(system.url, at(nobody, network), 'GET /server_settings')).status).toBe(200);
  }));

test('random hosts from one network are refused without a call to users', async () => {
  const network = elsewhere();
  const ask = (host: string) =>
    rawRequest(
      system.url,
      `GET /api/v1/server_settings HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: ${network}\r\nConnection: close\r\n\r\n`,
    );
  expect((await ask('first.example')).status).toBe(200);
  const answers: Awaited<ReturnType<typeof ask>>[] = [];
  // A request that is refused before its realm is known has no rate limit of a realm in its headers.
  const isFound = () => answers.some(({ status, headers }) => status === 429 && !/^x-ratelimit-limit:/im.test(headers));
  // Several at once: on a busy machine single ones might stay below the limit of a minute.
  for (let round = 0; round < 200 && !isFound(); round++)
    answers.push(...(await Promise.all(Array.from('0123456789', (digit) => ask(`random-${round}-${digit}.example`)))));
  expect(isFound()).toBe(true);
});

test('guesses and requests are limited even without Redis', async () => {
  await system.servers.redis.kill('SIGKILL');
  try {
    const { owner, member2 } = system.people;
    const { email, password } = owner;
    const network = elsewhere();
    const answers: (string | number)[][] = [];
    for (let count = 0; count < 7; count++) answers.push(codeOf(await logIn(email, 'wrong', network)));
    expect(answers.slice(0, 5)).toEqual([wrong, wrong, wrong, wrong, wrong]);
    expect(answers.slice(5)).toEqual([limited, limited]);
    expect((await logIn(email, password, elsewhere())).status).toBe(200);
    // A user of this test alone: until gateways have found Redis again, they may refuse further requests.
    const ask = () => request(system.url, { ...member2, headers: from(network) }, 'GET /users/me/alert_words');
    await withinOneWindow(async () => {
      // Each of two gateways counts separately.
      const statuses = await statusesOf(2 * limits.user + 10, ask);
      expect(statuses).toContain(200);
      expect(statuses).toContain(429);
    });
  } finally {
    await system.servers.redis.start();
  }
});

test('without a mail server, a link is shown only to the operator and is not logged', async () => {
  const { email, password } = system.people.guest;
  const page = await fetch(`${system.url}/accounts/password/reset`, {
    method: 'POST',
    headers: from(elsewhere()),
    body: new URLSearchParams({ email }),
  });
  expect(page.status).toBe(200);
  const keyOf = () =>
    mails.flatMap(({ to, text }) =>
      to === email ? (/\/accounts\/password\/reset\/(\S+)/.exec(text)?.[1] ?? []) : [],
    )[0];
  await expect.poll(keyOf).toBeDefined();
  const key = keyOf() ?? '';
  expect(key.length).toBeGreaterThan(20);
  const { body } = await untilServed(() => logIn(email, password, elsewhere()));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const logged = lines.join('\n');
  expect(logged).toContain('ready');
  for (const secret of [key, body.api_key, password, system.people.guest.api_key, system.people.guest.password])
    expect(logged).not.toContain(secret);
});

test('other users cannot read the data directory or the files with secrets in it', async () => {
  const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);
  expect(await modeOf(dataDir)).toBe('700');
  for (const file of ['local.json', 'service-password'])
    expect([file, await modeOf(join(dataDir, file))]).toEqual([file, '600']);
  expect(await readFile(join(dataDir, 'local.json'), 'utf8')).toContain(system.people.administrator.api_key);
});

test('bots with a higher role than their owner are demoted when users starts, and clients receive events', async () => {
  const { owner, moderator, administrator } = system.people;
  const { body: bot } = await request(system.url, moderator, 'POST /bots', {
    full_name: 'High Bot',
    short_name: 'high',
  });
  await database.run(sql.unsafe`UPDATE users.account SET role = 100 WHERE id = ${bot.user_id}`);
  const { body: queue } = await request(system.url, administrator, 'POST /register', {
    event_types: ['realm_user'],
  });
  for (const child of system.children.filter(({ program }) => program === 'users')) child.kill('SIGKILL');
  const roleOf = () =>
    database.one(sql.type(z.object({ role: z.number() }))`SELECT role FROM users.account WHERE id = ${bot.user_id}`);
  await expect.poll(async () => (await roleOf()).role).toBe(300);
  const poll = { queue_id: queue.queue_id, last_event_id: -1 };
  const { body } = await request(system.url, administrator, 'GET /events', poll);
  expect(body.events[0]).toMatchObject({ type: 'realm_user', person: { user_id: bot.user_id, role: 300 } });
  const { body: listed } = await request(system.url, owner, `GET /users/${bot.user_id}`);
  expect(listed.user.role).toBe(300);
});

test('keys of reusable links are not stored, and links that an earlier release stored in plain text still work', async () => {
  const { owner } = system.people;
  const once = { ...owner, headers: { 'idempotency-key': 'one link' } };
  const made = await request(system.url, once, 'POST /invites/multiuse');
  const again = await request(system.url, once, 'POST /invites/multiuse');
  expect([made.status, again.body.invite_link]).toEqual([200, made.body.invite_link]);
  const key = /\/join\/([a-z2-7]{40})\/$/.exec(made.body.invite_link)?.[1] ?? 'none';
  const textRow = z.object({ text: z.string() });
  const invitations = async () =>
    (await database.any(sql.type(textRow)`SELECT to_jsonb(i)::text AS text FROM users.invitation i`))
      .map(({ text }) => text)
      .join();
  const answers = await database.any(sql.type(textRow)`SELECT to_jsonb(i)::text AS text FROM users.idempotency i`);
  expect(key).toHaveLength(40);
  expect(await invitations()).not.toContain(key);
  expect(JSON.stringify(answers)).not.toContain(key);
  const links = async (): Promise<string[]> =>
    (await request(system.url, owner, 'GET /invites')).body.invites.map(({ link_url }: Answer) => link_url);
  expect(await links()).toContain(made.body.invite_link);

  const old = 'o'.repeat(40);
  await database.run(sql.unsafe`
    INSERT INTO users.invitation (realm_id, key, inviter_id, invite_as, channel_ids, group_ids, default_channels)
    SELECT realm_id, ${old}, id, 400, '{}', '{}', false FROM users.account WHERE id = ${owner.user_id}`);
  const oldLink = made.body.invite_link.replace(key, old);
  expect(await links()).toContain(oldLink);
  for (const child of system.children) if (child.program === 'users') child.kill('SIGKILL');
  await expect.poll(async () => (await invitations()).includes(old)).toBe(false);
  await expect.poll(() => links().catch(() => [])).toContain(oldLink);
  expect((await fetch(oldLink)).status).toBe(200);
});
