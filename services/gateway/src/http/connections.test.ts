import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { gatewayConfig } from './config.ts';
import { guardConnections } from './connections.ts';
import { trustedProxies } from './network.ts';

test('a body that is being sent while the wall clock is set forward is received', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const cuts: string[] = [];
  const config = gatewayConfig.parse({ NATTER_NATS_URL: 'nats://unused', NATTER_REDIS_URL: 'redis://unused' });
  const server = createServer(async (request, response) => {
    connections.onBody(request, response);
    response.end(await text(request));
  });
  const connections = guardConnections(server, config, trustedProxies(''), (reason) => void cuts.push(reason));
  onTestFinished(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    connections.stop();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const arrived = once(server, 'request');
  socket.write('POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 8\r\n\r\nhalf');
  await arrived;
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  vi.advanceTimersByTime(10_000);
  socket.write('half');
  expect(await text(socket)).toMatch(/halfhalf$/);
  expect(cuts).toEqual([]);
});
