import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asked, Client } from './client.ts';

let server: Server;
let client: Client;
/** The requests that the server received; every second one is served. */
const seen: IncomingMessage[] = [];
beforeEach(async () => {
  server = createServer((request, response) => {
    request.resume();
    seen.push(request);
    response.writeHead(seen.length % 2 === 1 ? 503 : 200).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const who = { user_id: 1, email: 'ann@natter.example', api_key: 'x', full_name: 'Ann' };
  client = new Client({ url, host: 'natter.example' }, who);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const keysOf = () => seen.splice(0).map(({ headers }) => headers['idempotency-key']);

test('a write that is sent again after a 503 has the same key, unless its queue and local id identify it', async () => {
  for (const form of [{}, { local_id: '1.5' }, { queue_id: '1:2' }]) {
    await client.ok('POST', '/messages', form);
    const [key, again] = keysOf();
    expect(key).toEqual(expect.any(String));
    expect(again).toBe(key);
  }
  await client.ok('POST', '/messages', { queue_id: '1:2', local_id: '1.5' });
  expect(keysOf()).toEqual([undefined, undefined]);
  expect(asked.repeated.splice(0)).toEqual(Array.from({ length: 4 }, () => 'POST /messages'));
});

test('a verb method sends a request again after a 503, without a key of its own', async () => {
  for (const method of ['get', 'post', 'patch', 'put', 'delete'] as const) {
    expect((await client[method]('/drafts')).status).toBe(200);
    expect(seen.map((request) => request.method)).toEqual([method.toUpperCase(), method.toUpperCase()]);
    expect(keysOf()).toEqual([undefined, undefined]);
  }
  expect(asked.repeated.splice(0)).toEqual(['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].map((name) => `${name} /drafts`));
});

test('a request of a client without an account is sent again after a 503', async () => {
  const stranger = new Client(client);
  await stranger.ok('POST', '/fetch_api_key', { username: 'ann', password: 'x' });
  expect(keysOf()).toEqual([undefined, undefined]);
  expect(asked.repeated.splice(0)).toEqual(['POST /fetch_api_key']);
});

test('send sends a request once, whatever its answer', async () => {
  expect((await client.send('GET', '/users/me')).status).toBe(503);
  expect(seen.splice(0)).toHaveLength(1);
  expect(asked.repeated).toEqual([]);
});
