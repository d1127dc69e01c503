/** People behind one address, one of whom guesses passwords. */
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { System } from '@natter/local/system';
import { Client } from '@natter/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Credentials, request } from '../api.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { operatorSettings, runNatter } from '../operator-command.ts';
import { requestOnce, untilServed } from '../patience.ts';
import { Browser } from '../tests/browser.ts';

let system: System;
let dataDir: string;
const lines: string[] = [];
const free = 20;
beforeAll(async () => {
  dataDir = await dataDirectory();
  system = await openSystem({
    dataDir,
    replicas: { users: 2 },
    env: {
      NATTER_RATE_LIMIT_ANONYMOUS: '100000',
      NATTER_RATE_LIMIT_LOGIN: String(free),
      NATTER_TRUSTED_PROXIES: '127.0.0.1',
      NATTER_LOG_LEVEL: 'trace',
    },
    log: (line) => lines.push(line),
    onLine: (line) => lines.push(line),
  });
});
afterAll(() => system?.stop());

const nobody: Credentials = { email: '', api_key: '' };
const times = <T>(many: number, make: (index: number) => T): T[] => Array.from({ length: many }, (_, i) => make(i));
const logIn = (username: string, password: string, network: string, headers: Record<string, string> = {}) =>
  request(
    system.url,
    { ...nobody, headers: { connection: 'close', 'x-forwarded-for': network, ...headers } },
    'POST /fetch_api_key',
    { username, password },
  );

test('a user with an earlier login from an address can log in while others guess passwords there', async () => {
  const { email, password } = system.people.member;
  const network = '192.0.2.1';
  expect((await logIn(email, password, network)).status).toBe(200);
  let waited = 0;
  for (let round = 0; round < 40 && waited < 5; round++) {
    const guesses = await Promise.all(times(15, (i) => logIn(`nobody${round}-${i}@natter.example`, 'wrong', network)));
    if (!guesses.some(({ status }) => status === 429)) continue;
    waited++;
    expect((await untilServed(() => logIn(email, password, network))).status).toBe(200);
  }
  expect(waited).toBe(5);
  // Guesses at that person are delayed as everywhere.
  const own: Answer[] = [];
  for (let round = 0; round < 20 && !own.some(({ status }) => status === 429); round++)
    own.push(...(await Promise.all(times(5, (index) => logIn(email, `wrong${round}-${index}`, network)))));
  expect(own.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(free);
  expect((await logIn(email, password, network)).status).toBe(429);
});

test('a change of the own password is not refused because of guesses of other users at the address', async () => {
  const { owner, administrator, moderator, member, member2, guest } = system.people;
  const change = (who: Credentials, old_password: string, new_password: string) =>
    requestOnce(
      system.url,
      { ...who, headers: { connection: 'close', 'x-forwarded-for': '192.0.2.2' } },
      'PATCH /settings',
      { old_password, new_password },
    );
  const others = [owner, administrator, moderator, member, guest];
  // In rounds, because hashing 75 passwords at once may take longer than the deadline of a request.
  const guesses: Answer[] = [];
  for (let round = 0; round < 15; round++)
    guesses.push(...(await Promise.all(others.map((who) => change(who, `wrong${round}`, 'another horse')))));
  // More wrong passwords than one network may send at logins without a delay.
  expect(guesses.map(({ status }) => status)).toEqual(times(75, () => 400));
  expect((await change(member2, member2.password, 'another horse')).status).toBe(200);
  expect((await change(member2, 'another horse', member2.password)).status).toBe(200);
});

test('a stored response does not reveal whether a password is right, because attempts with its key count', async () => {
  const { email, password } = system.people.guest;
  const key = { 'idempotency-key': 'known to others' };
  const first = await logIn(email, password, '192.0.2.3', key);
  const again = await logIn(email, password, '192.0.2.4', key);
  expect([first.status, again.body.api_key]).toEqual([200, first.body.api_key]);
  const network = '192.0.2.5';
  for (let count = 0; count < free; count++) {
    const { status } = await logIn(email, `wrong${count}`, network, key);
    expect([401, 422, 429]).toContain(status);
  }
  const guessed = await logIn(email, password, network, key);
  expect([guessed.status, guessed.body.api_key]).toEqual([429, undefined]);
  // A change of the password, repeated with its key because its answer was lost.
  const { moderator } = system.people;
  const change = () =>
    request(system.url, { ...moderator, headers: key }, 'PATCH /settings', {
      old_password: moderator.password,
      new_password: 'another horse',
    });
  expect([(await change()).status, (await change()).status]).toEqual([200, 200]);
});

test('credentials are not logged, whatever a request does with them', async () => {
  const { email, password } = system.people.administrator;
  const secrets: string[] = [password, system.people.administrator.api_key];
  const spectator = new Client({ url: system.url, host: new URL(system.url).host });
  const browser = new Browser(spectator);
  expect((await browser.login(email, password)).status).toBe(303);
  secrets.push(browser.session, browser.token);
  expect((await browser.json('GET', '/users/me')).status).toBe(200);
  expect((await browser.json('PATCH', '/settings', { full_name: 'Seen by Logs' })).status).toBe(200);
  expect((await browser.json('PATCH', '/settings', { full_name: '' })).status).toBe(400);
  expect((await browser.send('POST', '/accounts/password/reset', { email })).status).toBe(200);

  const secret = 'the secret with which tokens are signed here';
  const file = join(dataDir, 'token-key');
  await writeFile(file, secret);
  const settings = await operatorSettings(system, dataDir);
  const realm = ['realm', 'jwt', '--host', 'localhost', '--algorithm', 'HS256', '--key-file', file];
  expect((await runNatter(settings, realm)).code).toBe(0);
  const [header, claims] = [{ alg: 'HS256' }, { email }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const mac = createHmac('sha256', secret).update(`${header}.${claims}`).digest('base64url');
  const token = `${header}.${claims}.${mac}`;
  const byToken = await spectator.post('/jwt/fetch_api_key', { token });
  expect(byToken.status).toBe(200);
  expect((await spectator.post('/jwt/fetch_api_key', { token: `${token}x` })).status).toBe(400);
  secrets.push(secret, token, byToken.body.api_key);
  const byPassword: Answer = (await logIn(email, password, '192.0.2.6')).body;
  const wrong = 'a password that is wrong';
  expect((await logIn(email, wrong, '192.0.2.6')).status).toBe(401);
  secrets.push(wrong, String(byPassword.api_key));
  expect((await browser.json('POST', '/users/me/api_key/regenerate')).status).toBe(200);
  const logged = lines.join('\n');
  expect(logged).toContain('ready');
  for (const one of secrets) {
    expect(one.length).toBeGreaterThan(10);
    expect(logged).not.toContain(one);
  }
});
