import { once } from 'node:events';
import { Agent, createServer, request as sendRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { operations } from '@natter/contracts';
import { expect, onTestFinished, test } from 'vitest';
import { gatewayConfig } from '../http/config.ts';
import { guardConnections } from '../http/connections.ts';
import { trustedProxies } from '../http/network.ts';
import { refuseEarly } from './refuse-early.ts';
import { createRouter } from './router.ts';

/** A server of a realm without room. Requests that are not refused early are answered with 200. */
async function serve() {
  const answered: [string, number | 'cancelled'][] = [];
  const context = {
    router: createRouter(operations),
    earlyRefusals: {
      authenticated: () => undefined,
      tenantOf: () => ({ realmId: 1, userId: 1 }),
      tryRefuse: () => true,
      arrived: () => undefined,
    },
    metrics: {
      answered: (operation: string, status: number | 'cancelled') => void answered.push([operation, status]),
      delivered: () => undefined,
      cut: () => undefined,
    },
  };
  const server = createServer((request, response) => {
    if (!refuseEarly(context, connections, request, response)) request.resume().on('end', () => response.end('usual'));
  });
  const config = gatewayConfig.parse({ NATTER_NATS_URL: 'nats://unused', NATTER_REDIS_URL: 'redis://unused' });
  const connections = guardConnections(server, config, trustedProxies(''), () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => {
    connections.stop();
    agent.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  let connected = 0;
  server.on('connection', () => connected++);
  const send = async (method: string, path: string, body = '') => {
    const headers = { 'content-length': Buffer.byteLength(body), 'content-type': 'application/x-www-form-urlencoded' };
    const sent = sendRequest({ port, agent, method, path, headers }).end(body);
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  };
  return { send, answered, port, server, connected: () => connected };
}

test('an early refusal is an API error, and the connection serves further requests', async () => {
  const { send, answered, connected } = await serve();
  for (let nth = 0; nth < 3; nth++) {
    const { status, headers, body } = await send('POST', '/api/v1/messages', `content=${'x'.repeat(20_000)}`);
    expect(status).toBe(503);
    expect(headers).toMatchObject({
      'retry-after': '1',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-cache, no-store, must-revalidate, private',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
    });
    expect(headers['x-request-id']).toBeTruthy();
    expect(JSON.parse(body)).toMatchObject({ result: 'error', code: 'SERVICE_UNAVAILABLE' });
  }
  expect(connected()).toBe(1);
  expect(answered).toEqual(Array.from({ length: 3 }, () => ['send-message', 503]));
});

test('bodies that arrive after their refusal leave no state on the connection', async () => {
  const { port, server } = await serve();
  const accepted = once(server, 'connection');
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const [connection] = (await accepted) as [Socket];
  const before = connection.listenerCount('close');
  for (let nth = 0; nth < 5; nth++) {
    socket.write('POST /api/v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 503 /);
    socket.write('type');
  }
  await expect.poll(() => connection.listenerCount('close')).toBe(before);
});

test.each([
  ['polls, which do not pass the fair share', 'GET', '/api/v1/events?queue_id=1', ''],
  ['operations without an account', 'GET', '/api/v1/server_settings', ''],
  ['large bodies, which would be discarded', 'POST', '/api/v1/messages', 'x'.repeat(65_537)],
  ['paths that cannot be decoded', 'GET', '/api/v1/users/%ff', ''],
  ['unknown paths', 'GET', '/api/v1/nothing', ''],
  ['pages of the web client', 'GET', '/', ''],
])('early refusals exclude %s', async (_, method, path, body) => {
  const { send } = await serve();
  expect(await send(method, path, body)).toMatchObject({ status: 200, body: 'usual' });
});
