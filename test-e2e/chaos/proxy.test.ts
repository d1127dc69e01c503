import { once } from 'node:events';
import { type AddressInfo, createServer, connect as tcp } from 'node:net';
import { expect, test } from 'vitest';
import { proxyTo } from './proxy.ts';

/** A server that sends back what it receives. */
async function echo() {
  const server = createServer((socket) => socket.pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function client(url: string) {
  const socket = tcp(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  return { socket, text: () => text };
}

test('data keeps its order where a delay ends or becomes shorter', async () => {
  const { server, url } = await echo();
  const [slow, fast] = await Promise.all([proxyTo(url), proxyTo(url)]);
  const [delayed, other] = [client(slow.url), client(fast.url)];
  /** By then the proxies, which are in this process, have received what was sent before. */
  const received = async (): Promise<void> => {
    const before = other.text().length;
    other.socket.write('.');
    await expect.poll(() => other.text().length).toBe(before + 1);
  };
  delayed.socket.write('zero ');
  await expect.poll(delayed.text).toBe('zero ');
  slow.delay(600_000);
  delayed.socket.write('one ');
  await received();
  slow.delay(1);
  delayed.socket.write('two ');
  await received();
  slow.heal();
  delayed.socket.write('three ');
  await expect.poll(delayed.text).toBe('zero one two three ');
  for (const { socket } of [delayed, other]) socket.destroy();
  for (const link of [slow, fast]) link.close();
  server.close();
});
