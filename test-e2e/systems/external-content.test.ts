import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import { withinOneWindow } from '../one-window.ts';
import { openSystem } from '../open-system.ts';

const small = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(2_000, 7)]);
/** Larger than a message on the bus. */
const png = Buffer.concat([small, Buffer.alloc(3 * 1024 * 1024, 7)]);
const tooLarge = Buffer.concat([png.subarray(0, 16), Buffer.alloc(11 * 1024 * 1024)]);

const filesLimit = 400;
/** Requests that the other site received, by path. */
const asked = new Map<string, { count: number; headers: unknown[] }>();
let site: Server;
/** A site at an address that the system may not reach. */
let internal: Server;
let system: System;

const listening = async (host: string, answer: RequestListener): Promise<Server> => {
  const server = createServer((from, to) => {
    const path = from.url ?? '';
    const before = asked.get(path) ?? { count: 0, headers: [] };
    asked.set(path, { count: before.count + 1, headers: [...before.headers, from.headers] });
    answer(from, to);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return server;
};
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const at = (path: string): string => `http://127.0.0.2:${portOf(site)}${path}`;

beforeAll(async () => {
  internal = await listening('127.0.0.1', (_, answer) => answer.setHeader('content-type', 'image/png').end(png));
  site = await listening('127.0.0.2', (from, answer) => {
    const path = (from.url ?? '').split('?', 1)[0] ?? '';
    const type = (value: string) => answer.setHeader('content-type', value);
    if (path.startsWith('/to-internal'))
      answer.writeHead(302, { location: `http://127.0.0.1:${portOf(internal)}/secret.png` }).end();
    else if (path.startsWith('/to-image')) answer.writeHead(301, { location: '/image.png' }).end();
    else if (path.startsWith('/around')) answer.writeHead(302, { location: path }).end();
    else if (path.startsWith('/html')) type('image/png').end('<html></html>');
    else if (path.startsWith('/svg')) type('image/svg+xml').end('<svg xmlns="http://www.w3.org/2000/svg"/>');
    else if (path.startsWith('/large')) type('image/png').end(tooLarge);
    else if (path.startsWith('/endless')) type('image/png').write(png.subarray(0, 100));
    else if (path.startsWith('/missing')) answer.writeHead(404).end();
    else type('image/png').end(path === '/image.png' ? png : small);
  });
  system = await openSystem({
    env: {
      NATTER_RATE_LIMIT_ANONYMOUS_FILES: String(filesLimit),
      NATTER_TRUSTED_PROXIES: '127.0.0.1',
      NATTER_EXTERNAL_CONTENT_NETWORKS: '127.0.0.2/32',
    },
  });
});
afterAll(async () => {
  await system?.stop();
  for (const server of [site, internal]) {
    server?.closeAllConnections();
    server?.close();
  }
});

/** The path that a message shows the address at. */
async function shownAt(address: string): Promise<string> {
  const { body } = await request(system.url, system.people.member, 'POST /messages/render', { content: address });
  const src = /<img src="(\/external_content\/[0-9a-f]{40}\/[0-9a-f]+)">/.exec(body.rendered)?.[1];
  if (src === undefined) throw new Error(`no image in ${body.rendered}`);
  return src;
}
const get = (path: string, headers: Record<string, string> = {}) => fetch(system.url + path, { headers });

test('an image of another site is served by this server, and its site gets no data about the reader', async () => {
  const path = await shownAt(at('/image.png'));
  expect(path.split('/').at(-1)).toBe(Buffer.from(at('/image.png')).toString('hex'));
  const answer = await get(path, { cookie: 'a=b', 'user-agent': 'reader', referer: 'http://reader.example/' });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('cache-control')).toBe('private, max-age=86400');
  expect(Buffer.from(await answer.arrayBuffer()).equals(png)).toBe(true);
  expect(asked.get('/image.png')?.headers).toEqual([
    {
      'user-agent': 'Natter',
      accept: 'image/*,video/*,audio/*',
      'accept-encoding': 'identity',
      host: `127.0.0.2:${portOf(site)}`,
      connection: 'close',
    },
  ]);
});

test('an external image is fetched once for all readers', async () => {
  const path = await shownAt(at('/popular.png'));
  const answers = await Promise.all(Array.from({ length: 20 }, () => get(path)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  expect((await get(path)).status).toBe(200);
  expect(asked.get('/popular.png')?.count).toBe(1);
});

test('an address that is not shown in a message is not fetched', async () => {
  const path = await shownAt(at('/image.png'));
  const other = Buffer.from(at('/other.png')).toString('hex');
  expect((await get(path.replace(/[^/]+$/, other))).status).toBe(404);
  expect((await get(path.replace(/external_content\/./, 'external_content/g'))).status).toBe(404);
  expect((await get(`/external_content/${'0'.repeat(40)}/${other}`)).status).toBe(404);
  expect(asked.has('/other.png')).toBe(false);
});

test('a redirect to an image is followed, but not to an internal address or without end', async () => {
  expect((await get(await shownAt(at('/to-image.png')))).status).toBe(200);
  expect((await get(await shownAt(at('/to-internal.png')))).status).toBe(404);
  expect(asked.has('/secret.png')).toBe(false);
  expect((await get(await shownAt(at('/around.png')))).status).toBe(404);
  expect(asked.get('/around.png')?.count).toBe(4);
});

test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0.0.0.0', 'u:p@127.0.0.2'])(
  'http://%s is not fetched',
  async (host) => {
    const port = host.endsWith('.2') ? portOf(site) : portOf(internal);
    expect((await get(await shownAt(`[x](http://${host}:${port}/inside.png)`))).status).toBe(404);
    expect(asked.has('/inside.png')).toBe(false);
  },
);

test('content that is too large, missing, endless or not an image returns 404', async () => {
  const paths = ['/html.png', '/svg.png', '/large.png', '/missing.png', '/endless.png'];
  const statuses = await Promise.all(paths.map(async (path) => (await get(await shownAt(at(path)))).status));
  expect(statuses).toEqual(paths.map(() => 404));
  // Failures are cached for some time.
  expect((await get(await shownAt(at('/missing.png')))).status).toBe(404);
  expect(asked.get('/missing.png')?.count).toBe(1);
});

test('content counts by its size in started MiB, even if only its headers are requested', async () => {
  const path = await shownAt(at('/image.png'));
  const from = { 'x-forwarded-for': '192.0.2.1' };
  /** The state of the budget after a request, which is read from the next one. */
  const ask = async (method: string, shown: string) => {
    const answer = await fetch(system.url + shown, { method, headers: from });
    expect([answer.status, Number(answer.headers.get('content-length'))]).toEqual([
      200,
      shown === path ? png.length : small.length,
    ]);
    await answer.arrayBuffer();
    return [answer.headers.get('x-ratelimit-reset'), Number(answer.headers.get('x-ratelimit-remaining'))] as const;
  };
  const one = await shownAt(at('/counted.png'));
  /** The cost of the large image, measured within one window. */
  const costOf = async (method: string): Promise<number> => {
    const [before, after] = [await ask('GET', one), await ask(method, path)];
    return before[0] === after[0] ? before[1] - after[1] : costOf(method);
  };
  expect(png.length).toBeGreaterThan(3 * 1024 * 1024);
  // A gateway counts alone while Redis is slow.
  await withinOneWindow(async () => expect([await costOf('GET'), await costOf('HEAD')]).toEqual([4, 4]));
});
