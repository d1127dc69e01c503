import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exchange, openRealm, RawSocket, type Realm } from '@natter/testkit';
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorizationOf } from '../../api.ts';
import { openBrowser } from '../../browsers.ts';
import { untilServed } from '../../patience.ts';
import { Browser } from '../browser.ts';
import { proxyTo } from '../client/proxy-to.ts';

let realm: Realm;
let key: string;
beforeAll(async () => {
  realm = await openRealm({ havePasswords: true });
  key = authorizationOf(realm.member);
});

const origin = 'https://app.example';
const send = (method: string, path: string, headers: Record<string, string> = {}) =>
  untilServed(() => exchange(`${realm.member.url}${path}`, method, '', { host: realm.host, origin, ...headers }));

describe('a page of any origin', () => {
  test.each([
    ['GET', '/api/v1/users/me', 200, true],
    ['GET', '/api/v1/server_settings', 200, true],
    ['GET', '//api/v1//users/me', 200, true],
    ['GET', '/api/v1/users/0', 400, true],
    ['GET', '/api/v1/users/me', 401, false],
    ['GET', '/api/v1/nothing', 404, true],
    ['GET', '/api/v1', 404, true],
    ['PATCH', '/api/v1/messages', 405, true],
    ['POST', '/api/v1/tus', 411, true],
    ['GET', '/api/v1/users/%ff', 400, true],
  ])('can read the answer to %s %s, which is %i', async (method, path, status, hasKey) => {
    const answer = await send(method, path, hasKey ? { authorization: key } : {});
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([status, '*']);
    expect(answer.headers['access-control-expose-headers']).toBe('*');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  test('can read the refusal of headers that are too large', async () => {
    const socket = await RawSocket.open(realm.member.url);
    socket.send(`GET /api/v1/users?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: ${realm.host}\r\n\r\n`);
    const { status, headers } = await socket.answer();
    expect([status, headers]).toEqual([431, expect.stringContaining('\r\naccess-control-allow-origin: *')]);
  });

  test('can follow a queue as server-sent events', async () => {
    const { id } = await realm.member.queue({ event_types: ['message'], fetch_event_types: [] });
    const socket = await RawSocket.open(realm.member.url);
    const path = `/api/v1/events?queue_id=${id}&last_event_id=-1`;
    const head = `Host: ${realm.host}\r\nAuthorization: ${key}\r\nAccept: text/event-stream`;
    socket.send(`GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`);
    await expect.poll(() => socket.received).toContain('retry: 1000');
    expect(socket.received).toContain('\r\naccess-control-allow-origin: *\r\n');
    socket.end();
  });

  test.each(['/api/v1/register', '/api/v1/tus', '/api/v1/nothing'])(
    'may send requests to %s with the headers that the API reads',
    async (path) => {
      const answer = await send('OPTIONS', path, {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,idempotency-key',
      });
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([204, '*']);
      const listed = (name: string) => String(answer.headers[`access-control-allow-${name}`]).split(', ').sort();
      expect(listed('methods')).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT']);
      expect(listed('headers')).toEqual(
        expect.arrayContaining([
          ...['authorization', 'content-type', 'idempotency-key', 'last-event-id'],
          ...['tus-resumable', 'upload-length', 'upload-metadata', 'upload-offset', 'user-agent'],
        ]),
      );
    },
  );

  test.each(['/json/users/me', '/json/register', '/accounts/login', '/user_uploads/2/ab/cd/x.png', '/', '/apis/v1'])(
    'cannot read answers of %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { headers } = await send(method, path, { 'access-control-request-method': 'POST' });
        const given = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
        expect([method, given]).toEqual([method, []]);
      }
    },
  );
});

test('the API answers a request with cookies like one without', async () => {
  const browser = new Browser(realm.spectator);
  expect((await browser.login(realm.owner.email, realm.owner.password)).status).toBe(303);
  const anonymous = new Browser(realm.spectator);
  const { body } = await realm.spectator.get('//openapi.json');
  const routes = Object.entries<Record<string, { servers?: unknown; 'x-callers': { caller: string } }>>(body.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([
          method,
          {
            servers,
            'x-callers': { caller },
          },
        ]) => ({
          method: method.toUpperCase(),
          path: path.replace(/\{\w+\}/g, '1'),
          isApi: !servers,
          caller,
        }),
      ),
    )
    .filter(({ isApi }) => isApi);
  expect(routes.length).toBeGreaterThan(150);
  for (const { method, path, caller } of routes) {
    const headers = { 'x-csrftoken': browser.token, origin: browser.origin };
    const [withCookies, without] = await Promise.all(
      [browser, anonymous].map((one) => one.send(method, `/api/v1${path}`, {}, headers)),
    );
    const seen = [withCookies, without].map((answer) => [answer?.status, answer?.body.code, answer?.body.msg]);
    expect([method, path, seen[0]]).toEqual([method, path, seen[1]]);
    expect(withCookies?.headers['set-cookie']).toBeUndefined();
    if (caller === 'user' || caller === 'human')
      expect([method, path, withCookies?.status]).toEqual([method, path, 401]);
  }
});

describe('in Chromium', () => {
  let servers: Server[];
  let chromium: Chromium;
  let page: Page;
  let server: string;
  const addressOf = (one: Server): string => `http://127.0.0.1:${(one.address() as AddressInfo).port}`;

  beforeAll(async () => {
    const proxy = await proxyTo(realm.host, realm.owner.url);
    const pages = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    servers = [proxy, pages];
    server = addressOf(proxy);
    chromium = await openBrowser();
    page = await chromium.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(addressOf(pages));
  });
  afterAll(async () => {
    await chromium.close();
    for (const one of servers) one.close();
  });

  /** Status, some headers and the body of an answer; the error of a request that the browser blocks. */
  const fetched = (path: string, options: object): Promise<{ status?: number; [name: string]: unknown }> =>
    page.evaluate(
      `fetch(${JSON.stringify(server + path)}, ${JSON.stringify(options)}).then(async (answer) => ({
        status: answer.status,
        body: await answer.text(),
        ...Object.fromEntries(['location', 'x-ratelimit-limit', 'upload-offset'].map((name) => [name, answer.headers.get(name)])),
      }), ({ name }) => ({ error: name }))`,
    );

  test('a page of another origin registers, writes, uploads and reads errors', async () => {
    const headers = { authorization: key, 'idempotency-key': 'page-1' };
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const queue = await fetched('/api/v1/register', { method: 'POST', headers });
    expect([queue.status, Number(queue['x-ratelimit-limit'])]).toEqual([200, expect.any(Number)]);
    const body = `type=direct&to=[${realm.member.user_id}]&content=from a page`;
    const write = { method: 'POST', headers: { ...headers, ...form, 'idempotency-key': 'page-2' }, body };
    expect((await fetched('/api/v1/messages', write)).status).toBe(200);
    const { queue_id: id } = JSON.parse(String(queue.body));
    const events = await fetched(`/api/v1/events?queue_id=${id}&last_event_id=-1`, { headers });
    expect([events.status, events.body]).toEqual([200, expect.stringContaining('from a page')]);
    const begin = { authorization: key, 'tus-resumable': '1.0.0', 'upload-length': '3' };
    const upload = await fetched('/api/v1/tus', { method: 'POST', headers: begin });
    expect([upload.status, upload['upload-offset']]).toEqual([201, '0']);
    const part = { ...begin, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
    const path = String(upload.location);
    expect((await fetched(path, { method: 'PATCH', headers: part, body: 'abc' })).status).toBe(200);
    expect((await fetched('/api/v1/nothing', { headers })).status).toBe(404);
    expect((await fetched('/api/v1/users/me', {})).status).toBe(401);
  });

  test('a page of another origin cannot use the session of its visitor', async () => {
    const browser = new Browser(realm.spectator);
    await browser.login(realm.member.email, realm.member.password);
    await page.context().addCookies([{ name: 'sessionid', value: browser.session, url: server }]);
    const credentials = 'include';
    for (const path of ['/json/users/me', '/api/v1/server_settings'])
      expect([path, await fetched(path, { credentials })]).toEqual([path, { error: 'TypeError' }]);
    expect((await fetched('/api/v1/users/me', {})).status).toBe(401);
  });
});
