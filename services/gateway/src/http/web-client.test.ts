import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { createWebClient } from './web-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'natter-web-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, 'assets'));
const script = 'console.log(1)';
for (const [name, text] of [
  ['index.html', '<title>Natter</title>'],
  ['assets/index-abcd1234.js', script],
  ['assets/load-again.js', script],
] as const) {
  writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
}

/** A gateway that answers 404 to what is not for the client. */
function gatewayWith(built: string) {
  const client = createWebClient(built, ['/accounts/login', '/user_uploads/{name}']);
  const app = fastify();
  app.all('/*', async (request, reply) => client.answer(request, reply) ?? reply.code(404).send({ result: 'error' }));
  return (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
    app.inject({ method, url, headers });
}

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-encoding': 'gzip, br' };

test('browsers and programs that accept anything get the pages of the client, and others the usual response', async () => {
  const get = gatewayWith(folder);
  for (const path of ['/', '/?next=1', '/channel/1/topic/a', '/dm/1,2', '/inbox', '/recent', '/search?q=a']) {
    const page = await get(path, browser);
    expect([path, page.statusCode, page.headers['cache-control']]).toEqual([path, 200, 'no-cache']);
    expect(page.headers.vary).toBe('accept, accept-encoding');
    expect(brotliDecompressSync(page.rawPayload).toString()).toBe('<title>Natter</title>');
    for (const headers of [{}, { accept: '*/*' }])
      expect((await get(path, headers)).payload).toBe('<title>Natter</title>');
    expect((await get(path, { accept: 'application/json' })).statusCode).toBe(404);
    expect((await get(path, browser, 'POST')).statusCode).toBe(404);
  }
});

test('browsers get the client at unknown paths, with status 404, and programs get the usual response', async () => {
  const get = gatewayWith(folder);
  for (const path of ['/unknown', '/inbox/1', '/channels', '/a?b=/api', '/apis', '/assets/%2e%2e/index.html']) {
    const page = await get(path, browser);
    expect([path, page.statusCode, page.headers['cache-control']]).toEqual([path, 404, 'no-cache']);
    expect(brotliDecompressSync(page.rawPayload).toString()).toBe('<title>Natter</title>');
    expect(page.headers['content-security-policy']).toBe((await get('/', browser)).headers['content-security-policy']);
    for (const [headers, method] of [[{ accept: '*/*' }], [browser, 'POST']] as const)
      expect((await get(path, headers, method)).json()).toEqual({ result: 'error' });
  }
  const ofPrograms = ['/api', '/api/v1/messages', '/json/x', '/docs/x', '/.well-known/x', '/static/x'];
  const ofOperations = ['/accounts/x', '/user_uploads/1', '/user_uploads'];
  for (const path of [...ofPrograms, ...ofOperations, '/assets/', '/assets/a.js'])
    expect([path, (await get(path, browser)).json()]).toEqual([path, { result: 'error' }]);
});

test('browsers cache files of the client, and clients without Brotli get them uncompressed', async () => {
  const get = gatewayWith(folder);
  const plain = await get('/assets/index-abcd1234.js');
  expect(plain.body).toBe(script);
  expect(plain.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  });
  expect(plain.headers['content-encoding']).toBeUndefined();
  const brotli = await get('/assets/index-abcd1234.js', browser);
  expect(brotli.headers['content-encoding']).toBe('br');
  expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe(script);
  for (const [coding, sent] of [
    ['BR;q=0.5', 'br'],
    ['gzip;q=0, br ;q=1', 'br'],
    ['br;q=0', undefined],
    ['gzip, br; q=0.000', undefined],
    ['x-br', undefined],
  ] as const) {
    const { headers } = await get('/assets/index-abcd1234.js', { 'accept-encoding': coding });
    expect([coding, headers['content-encoding']]).toEqual([coding, sent]);
  }
  const head = await get('/assets/index-abcd1234.js', {}, 'HEAD');
  expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', String(script.length)]);
});

test('browsers ask for files without a hash in their names each time', async () => {
  const { body, headers } = await gatewayWith(folder)('/assets/load-again.js');
  expect([body, headers['cache-control']]).toEqual([script, 'no-cache']);
});

test('the content security policy permits no inline code, frames or other hosts', async () => {
  const { headers } = await gatewayWith(folder)('/', browser);
  const policy = String(headers['content-security-policy']);
  expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
    expect(policy.split('; ')).toContain(part);
});

test('without a build, the page explains how to build', async () => {
  const get = gatewayWith(join(folder, 'missing'));
  const page = await get('/', browser);
  expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('The web client is not built')]);
  expect((await get('/', { accept: 'application/json' })).statusCode).toBe(404);
});
