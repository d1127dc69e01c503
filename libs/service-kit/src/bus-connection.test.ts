import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { NatsConnection } from '@nats-io/nats-core';
import { expect, test } from 'vitest';
import { flushed, openBusConnection } from './bus-connection.ts';
import { createLogger } from './logging.ts';
import { createMetrics } from './metrics.ts';

const natsThat = (flush: () => Promise<void>, isClosed = false): NatsConnection =>
  ({ flush, isClosed: () => isClosed }) as unknown as NatsConnection;

test('a flush that a disconnect interrupted is done after the reconnect', async () => {
  let asked = 0;
  const nats = natsThat(async () => {
    if (++asked < 3) throw new Error('connection disconnected');
  });
  await flushed(nats, 5_000);
  expect(asked).toBe(3);
});

test('a flush of a closed connection fails as unavailable', async () => {
  const nats = natsThat(async () => {
    throw new Error('closed connection');
  }, true);
  await expect(flushed(nats, 5_000)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('a connection survives logins that came too late', async () => {
  let logins = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const refused = [2, 3, 4].includes(++logins);
    const info = {
      server_id: 'S',
      version: '2.11.0',
      proto: 1,
      headers: true,
      max_payload: 1_000_000,
      auth_required: true,
    };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (data) => {
      if (refused) socket.end("-ERR 'Authentication Timeout'\r\n");
      else if (data.includes('PING\r\n')) socket.write('PONG\r\n');
      if (logins === 1) setTimeout(() => socket.destroy(), 100);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { nats, onReconnect } = await openBusConnection({
    url: `nats://a:b@127.0.0.1:${(server.address() as AddressInfo).port}`,
    name: 'late',
    log: createLogger('late', 'silent'),
    metrics: createMetrics('late'),
  });
  await new Promise<void>((resolve) => onReconnect(resolve));
  expect(logins).toBe(5);
  expect(nats.isClosed()).toBe(false);
  await nats.close();
  server.close();
});
