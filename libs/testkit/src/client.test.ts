import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asked, Client } from './client.ts';

const seen: IncomingHttpHeaders[] = [];
let server: Server;
let client: Client;
let stranger: Client;
/** Answers 503 to every other request, beginning with the first. */
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    seen.push(request.headers);
    response.writeHead(seen.length % 2 === 1 ? 503 : 200).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, host: 'natter.example' };
  client = new Client(at, { user_id: 1, email: 'ann@natter.example', api_key: 'x', full_name: 'Ann' });
  stranger = new Client(at);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const keys = () => seen.splice(0).map((headers) => headers['idempotency-key']);

test('a write that is sent again after a 503 has the same key, unless its queue and local id identify it', async () => {
  for (const who of [client, stranger])
    for (const form of [{}, { local_id: '1.5' }, { queue_id: '1:2' }]) {
      await who.ok('POST', '/messages', form);
      const [key, again] = keys();
      expect(key).toEqual(expect.any(String));
      expect(again).toBe(key);
    }
  await client.ok('POST', '/messages', { queue_id: '1:2', local_id: '1.5' });
  expect(keys()).toEqual([undefined, undefined]);
  expect(asked.repeated.splice(0)).toEqual(Array.from({ length: 7 }, () => 'POST /messages'));
});

test('a request of a verb method is sent again after a 503 without a key, and one of `send` is not', async () => {
  expect((await client.patch('/messages/1')).status).toBe(200);
  expect(keys()).toEqual([undefined, undefined]);
  expect(asked.repeated.splice(0)).toEqual(['PATCH /messages/1']);
  expect((await client.send('PATCH', '/messages/1')).status).toBe(503);
});
