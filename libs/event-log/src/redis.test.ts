import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from './redis.ts';

/** Redis servers behind one address: the first serves the first connection and became a replica, another serves later ones. */
async function failedOver() {
  let connections = 0;
  const server = createServer((socket) => {
    const isReplica = ++connections === 1;
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      // Commands are arrays of strings: `*2\r\n$3\r\nGET\r\n…`.
      for (const text of data
        .toString()
        .split(/^\*\d+\r\n/m)
        .slice(1)) {
        const name = text.split('\r\n')[1]?.toLowerCase();
        const info = 'role:slave\r\nloading:0\r\n';
        if (name === 'info') socket.write(`$${info.length}\r\n${info}\r\n`);
        else if (name === 'hello') socket.write('%1\r\n+server\r\n+redis\r\n');
        else if (name === 'ping') socket.write('+PONG\r\n');
        else socket.write(isReplica ? "-READONLY You can't write against a read only replica.\r\n" : '+OK\r\n');
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

test('writes go to the new primary after a failover that left connections to the old one open', async () => {
  const { url } = await failedOver();
  const { redis, close } = connectRedis(url, () => undefined);
  onTestFinished(close);
  await once(redis, 'ready');
  await expect(redis.set('key', 'value')).rejects.toThrow('READONLY');
  await expect.poll(() => redis.set('key', 'value')).toBe('OK');
});
