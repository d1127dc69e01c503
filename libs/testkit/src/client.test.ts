import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { asked, Client } from './client.ts';

test('a write that is sent again after a 503 has the same key, unless its queue and local id identify it', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    request.resume();
    seen.push(request.headers);
    response.writeHead(seen.length % 2 === 1 ? 503 : 200).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const who = { user_id: 1, email: 'ann@natter.example', api_key: 'x', full_name: 'Ann' };
  const client = new Client({ url, host: 'natter.example' }, who);
  const keysOf = async (form: Record<string, string>) => {
    await client.ok('POST', '/messages', form);
    return seen.splice(0).map((headers) => headers['idempotency-key']);
  };
  for (const form of [{}, { local_id: '1.5' }, { queue_id: '1:2' }]) {
    const [key, again] = await keysOf(form);
    expect(key).toEqual(expect.any(String));
    expect(again).toBe(key);
  }
  expect(await keysOf({ queue_id: '1:2', local_id: '1.5' })).toEqual([undefined, undefined]);
  expect(asked.repeated.splice(0)).toEqual(Array.from({ length: 4 }, () => 'POST /messages'));
  server.closeAllConnections();
  server.close();
});
