/** Limits by network, with several processes of users. */
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Credentials, request } from '../api.ts';
import { withinOneWindow } from '../one-window.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { operatorSettings, runNatter } from '../operator-command.ts';
import { untilServed } from '../patience.ts';

let system: System;
let settings: Record<string, string>;
beforeAll(async () => {
  const dataDir = await dataDirectory();
  system = await openSystem({
    dataDir,
    replicas: { users: 2 },
    gateways: 1,
    env: { NATTER_RATE_LIMIT_ANONYMOUS: '120', NATTER_TRUSTED_PROXIES: '127.0.0.1' },
  });
  settings = await operatorSettings(system, dataDir);
});
afterAll(() => system?.stop());

const nobody: Credentials = { email: '', api_key: '' };
const post = (username: string, password: string, network: string) => {
  const from = { connection: 'close', 'x-forwarded-for': network };
  return request(system.url, { ...nobody, headers: from }, 'POST /fetch_api_key', { username, password });
};
const guess = async (username: string, password: string, network: string): Promise<number> =>
  (await post(username, password, network)).status;
/** Logs in with the right password. */
const logIn = async (username: string, password: string, network: string): Promise<number> =>
  (await untilServed(() => post(username, password, network))).status;
const times = <T>(many: number, make: (index: number) => T): T[] => Array.from({ length: many }, (_, i) => make(i));

/** How many guesses were answered as wrong. The others must have been refused, on a busy machine perhaps as overload. */
function tried(statuses: readonly number[]): number {
  const wrong = statuses.filter((status) => status === 401);
  const refused = statuses.filter((status) => status === 429 || status === 503);
  expect(refused).toHaveLength(statuses.length - wrong.length);
  return wrong.length;
}

test('each network gets at most five of its simultaneous guesses', async () => {
  const { email } = system.people.member;
  for (const network of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
    const statuses = await Promise.all(times(30, (index) => guess(email, `wrong${index}`, network)));
    // Fewer if the gateway repeated a call that a busy process had not answered: both count.
    expect(tried(statuses)).toBeLessThanOrEqual(5);
    expect(tried(statuses)).toBeGreaterThanOrEqual(1);
  }
  // A name without an account counts in the same way.
  const unknown = await Promise.all(times(30, () => guess('nobody@natter.example', 'wrong', '192.0.2.4')));
  expect(tried(unknown)).toBeLessThanOrEqual(5);
});

test('simultaneous right passwords are accepted, even beside wrong ones of other users', async () => {
  const { moderator, member2, guest } = system.people;
  const network = '192.0.2.10';
  const right = times(8, () => [moderator, guest])
    .flat()
    .map(({ email, password }) => logIn(email, password, network));
  const wrong = times(20, (index) => guess(member2.email, `wrong${index}`, network));
  expect(new Set(await Promise.all(right))).toEqual(new Set([200]));
  expect(tried(await Promise.all(wrong))).toBeLessThanOrEqual(5);
  expect(await logIn(member2.email, member2.password, '192.0.2.11')).toBe(200);
});

test('refused requests are limited by network, and its keys and logins still work', async () => {
  const refused: [method: string, path: string, status: number][] = [
    ['GET', '/nothing', 404],
    ['GET', '/users/me', 401],
    ['PUT', '/messages', 405],
  ];
  const ask = async (network: string): Promise<number[]> => {
    const headers = { connection: 'close', 'x-forwarded-for': network };
    const answers = refused.map(async ([method, path]) => {
      const response = await fetch(`${system.url}/api/v1${path}`, { method, headers });
      await response.arrayBuffer();
      return response.status;
    });
    return Promise.all(answers);
  };
  const usual = refused.map(([, , status]) => status);
  const network = '192.0.2.20';
  expect(await ask(network)).toEqual(usual);
  const isLimited = async (): Promise<boolean> =>
    (await Promise.all(times(20, () => ask(network)))).flat().every((status) => status === 429);
  let rounds = 0;
  while (!(await isLimited())) expect(++rounds).toBeLessThan(60);
  expect(await ask('192.0.2.21')).toEqual(usual);
  const preflight = await fetch(`${system.url}/api/v1/messages`, {
    method: 'OPTIONS',
    headers: { 'x-forwarded-for': network, 'access-control-request-method': 'POST' },
  });
  expect(preflight.status).toBe(204);
  const { member } = system.people;
  expect(await logIn(member.email, member.password, network)).toBe(200);
  const mine = await request(system.url, { ...member, headers: { 'x-forwarded-for': network } }, 'GET /users/me');
  expect(mine.status).toBe(200);
});

test('requests for files with the cookie of an ended session do not count as guesses', async () => {
  const { member } = system.people;
  const headers = { 'x-forwarded-for': '192.0.2.30', cookie: `sessionid=${'x'.repeat(43)}` };
  const open = async (sent: Record<string, string>): Promise<number> => {
    const response = await fetch(`${system.url}/user_uploads/2/ab/cd/none.png`, { headers: sent });
    await response.arrayBuffer();
    return response.status;
  };
  const usual = await open({ 'x-forwarded-for': '192.0.2.31' });
  expect(usual).not.toBe(429);
  const statuses: number[] = [];
  for (let round = 0; round < 10; round++) statuses.push(...(await Promise.all(times(25, () => open(headers)))));
  expect(new Set(statuses)).toEqual(new Set([usual]));
  // The requests count as anonymous downloads, which are limited.
  let rounds = 0;
  while (!(await Promise.all(times(50, () => open(headers)))).includes(429)) expect(++rounds).toBeLessThan(60);
  expect(await logIn(member.email, member.password, '192.0.2.30')).toBe(200);
});

test('a network has one budget for all realms that it addresses', async () => {
  const hosts = ['one.example', 'two.example', 'three.example'];
  for (const host of hosts) {
    const owner = ['--owner-email', `owner@${host}`];
    const { code, output } = await runNatter(settings, ['realm', 'create', '--host', host, '--name', host, ...owner]);
    expect([code, output]).toEqual([0, expect.anything()]);
  }
  const wrongKey = `Basic ${Buffer.from(`nobody@one.example:${'x'.repeat(32)}`).toString('base64')}`;
  const requests: [path: string, authorization: string][] = [
    ['/api/v1/server_settings', ''],
    ['/api/v1/users/me', wrongKey],
    ['/user_uploads/2/ab/cd/none.png', ''],
  ];
  for (const [path, authorization] of requests) {
    const ask = async (host: string): Promise<{ reset: string; remaining: number }> => {
      const from = { 'x-forwarded-for': '192.0.2.40', 'x-forwarded-host': host };
      const response = await fetch(system.url + path, { headers: authorization ? { ...from, authorization } : from });
      await response.arrayBuffer();
      const reset = response.headers.get('x-ratelimit-reset') ?? '';
      return { reset, remaining: Number(response.headers.get('x-ratelimit-remaining') ?? Number.NaN) };
    };
    // All three in one window.
    const spent = async (): Promise<number[]> => {
      const answers = [];
      for (const host of hosts) answers.push(await ask(host));
      const [first] = answers;
      return answers.every(({ reset }) => reset === first?.reset)
        ? answers.map(({ remaining }) => (first?.remaining ?? 0) - remaining)
        : await spent();
    };
    // A gateway counts alone while Redis is slow.
    await withinOneWindow(async () => expect([path, await spent()]).toEqual([path, [0, 1, 2]]));
  }
});
