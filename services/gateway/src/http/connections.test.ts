import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { gatewayConfig } from './config.ts';
import { type Connections, guardConnections } from './connections.ts';
import { trustedProxies } from './network.ts';

test('a body that is being sent while the wall clock is set forward is received', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { port, server, cuts } = await guarded(async (connections, request, response) => {
    connections.onBody(request, response);
    response.end(await text(request));
  });
  const socket = connect(port, '127.0.0.1');
  const arrived = once(server, 'request');
  socket.write('POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 8\r\n\r\nhalf');
  await arrived;
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  vi.advanceTimersByTime(10_000);
  socket.write('half');
  expect(await text(socket)).toMatch(/halfhalf$/);
  expect(cuts).toEqual([]);
});

describe('after a gateway was stopped for two minutes', () => {
  /** Lets time pass in which the gateway looks after its connections, or is stopped and looks once at its end. */
  function passing(): { run(ms: number): void; stop(ms: number): void } {
    const begun = performance.now();
    let passedMs = 0;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    vi.spyOn(performance, 'now').mockImplementation(() => begun + passedMs);
    onTestFinished(() => void vi.useRealTimers());
    const pass = (ms: number): void => {
      passedMs += ms;
      vi.advanceTimersByTime(5_000);
    };
    return {
      run: (ms) => {
        for (let at = 0; at < ms; at += 5_000) pass(5_000);
      },
      stop: pass,
    };
  }

  test('it receives the rest of a body, and refuses one that stays without progress', async () => {
    const time = passing();
    const { port, server, cuts } = await guarded(async (connections, request, response) => {
      connections.begin(request, response);
      connections.onBody(request, response);
      response.end(await text(request).catch(() => ''));
    });
    const begin = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1');
      const arrived = once(server, 'request');
      socket.write('POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 8\r\n\r\nhalf');
      await arrived;
      return socket;
    };
    const [going, stalled] = [await begin(), await begin()];
    time.run(5_000);
    time.stop(120_000);
    time.run(5_000);
    expect(cuts).toEqual([]);
    going.write('half');
    expect(await text(going)).toMatch(/halfhalf$/);
    time.run(15_000);
    expect(await text(stalled)).toMatch(/^HTTP\/1.1 408 /);
    expect(cuts).toEqual(['stalled']);
  });

  test('it sends the rest of an answer, and cuts one that stays unread', async () => {
    const time = passing();
    const size = 64 * 1024 * 1024;
    const { port, server, cuts } = await guarded(async (_connections, _request, response) => {
      response.end(Buffer.alloc(size));
    });
    const begin = async (): Promise<[client: Socket, accepted: Socket]> => {
      const accepting = once(server, 'connection') as Promise<[Socket]>;
      const socket = connect(port, '127.0.0.1');
      socket.pause().write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      const [accepted] = await accepting;
      await once(server, 'request');
      return [socket, accepted];
    };
    const [[reading], [, unread]] = [await begin(), await begin()];
    time.run(10_000);
    time.stop(120_000);
    time.run(5_000);
    expect(cuts).toEqual([]);
    let received = 0;
    for await (const chunk of reading) received += chunk.length;
    expect(received).toBeGreaterThan(size);
    const cut = once(unread, 'close');
    // A large chunk has more time.
    time.run(110_000);
    await cut;
    expect(cuts).toContain('stalled');
  });
});

describe('a client that reads late gets every response, also when the server closes the connection', () => {
  test('because of too many requests', async () => {
    const { port } = await guarded(async (connections, request, response) => {
      try {
        if (connections.begin(request, response)) response.end('content');
      } catch {
        response.writeHead(503).end();
      }
    });
    const received = await readLate(port, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(500_000));
    expect(received.match(/HTTP\/1.1 200/g)).toHaveLength(64);
    expect(received).toMatch(/HTTP\/1.1 503[\s\S]*\r\n\r\n$/);
  });

  test('because it refused a body', async () => {
    const { port } = await guarded(async (_connections, _request, response) => {
      response.writeHead(400, { connection: 'close' }).end('refused');
    });
    const head = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10000000\r\n\r\n';
    expect(await readLate(port, head + 'x'.repeat(10_000_000))).toMatch(/HTTP\/1.1 400[\s\S]*refused/);
  });
});

describe('one host', () => {
  const limits = { NATTER_MAX_CONNECTIONS: '40', NATTER_MAX_CONNECTIONS_PER_ADDRESS: '4' };
  /** Opens a connection from an address; returns whether it stays open. */
  function arrive(server: Server, remoteAddress: string): { isOpen: () => boolean; close: () => void } {
    const socket = Object.assign(new Duplex({ read: () => undefined }), { remoteAddress });
    server.emit('connection', socket);
    return { isOpen: () => !socket.destroyed, close: () => socket.destroy() };
  }

  test('takes a quarter of all connections at most, whichever networks of its /48 it uses', async () => {
    const { server, cuts } = await guarded(async () => undefined, { settings: limits });
    const hostile = Array.from({ length: 20 }, (_, index) => arrive(server, `2001:db8:7:${index}::1`));
    expect(hostile.filter(({ isOpen }) => isOpen())).toHaveLength(10);
    expect(cuts).toEqual(Array(10).fill('address'));
    expect(arrive(server, '2001:db8:8::1').isOpen()).toBe(true);
    hostile[0]?.close();
    await expect.poll(() => arrive(server, '2001:db8:7:99::1').isOpen()).toBe(true);
  });

  test('takes as many connections as its own network permits', async () => {
    const { server } = await guarded(async () => undefined, { settings: limits });
    for (const address of ['192.0.2.1', '2001:db8:7::1']) {
      const own = Array.from({ length: 6 }, () => arrive(server, address));
      expect(own.filter(({ isOpen }) => isOpen())).toHaveLength(4);
    }
  });

  test('may take more than a quarter if the limit of one address is higher', async () => {
    const { server } = await guarded(async () => undefined, {
      settings: { ...limits, NATTER_MAX_CONNECTIONS_PER_ADDRESS: '30' },
    });
    const own = Array.from({ length: 35 }, () => arrive(server, '192.0.2.1'));
    expect(own.filter(({ isOpen }) => isOpen())).toHaveLength(30);
  });

  test('is not limited because a trusted proxy in its network has many connections', async () => {
    const { server } = await guarded(async () => undefined, { settings: limits, proxies: 'fd00::1' });
    const ofProxy = Array.from({ length: 30 }, () => arrive(server, 'fd00::1'));
    expect(ofProxy.every(({ isOpen }) => isOpen())).toBe(true);
    expect(arrive(server, 'fd00::2').isOpen()).toBe(true);
  });
});

test('a network that keeps sending refused bodies is cut off, but one refused body is not', async () => {
  const { port, cuts } = await guarded(async (connections, request, response) => {
    if (connections.begin(request, response)) response.writeHead(413).end('refused');
  });
  const mebibyte = 1024 * 1024;
  const send = async (size: number, limit: number): Promise<number> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${size}\r\n\r\n`);
    const chunk = Buffer.alloc(mebibyte);
    let sent = 0;
    while (sent < limit && !socket.destroyed) {
      sent += chunk.length;
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
    }
    if (sent < size) await closed;
    socket.destroy();
    return sent;
  };
  expect(await send(30 * mebibyte, 30 * mebibyte)).toBe(30 * mebibyte);
  expect(cuts).toEqual([]);
  expect(await send(2 ** 40, 2 ** 35)).toBeLessThan(2 ** 35);
  expect(cuts).toContain('discarded');
});

test('connections of a network above its limit of refused bytes close only after a response announces it', async () => {
  const { port } = await guarded(async (connections, request, response) => {
    if (!connections.begin(request, response)) return;
    if (connections.mustClose(request)) response.setHeader('connection', 'close');
    response.writeHead(413).end('refused');
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const large = Buffer.alloc(20 * 1024 * 1024);
  let closed = 0;
  for (let round = 0; round < 16; round++)
    for (const body of [large, Buffer.from('small')]) {
      const sent = request(`http://127.0.0.1:${port}`, { method: 'POST', agent });
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      // The rest of a large body may not be accepted.
      sent.on('error', () => undefined);
      expect([answer.statusCode, await text(answer)]).toEqual([413, 'refused']);
      if (answer.headers.connection === 'close') closed += 1;
    }
  expect(closed).toBeGreaterThan(2);
});

test('a connection that the server closes ends even if the client keeps sending', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { port, server } = await guarded(async (_connections, _request, response) => {
    response.writeHead(400, { connection: 'close' }).end('refused');
  });
  const ended = once(server, 'connection').then(([accepted]) => once(accepted, 'close'));
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n');
  await once(socket, 'data');
  const sending = setInterval(() => socket.write('1\r\nx\r\n'), 10);
  onTestFinished(() => clearInterval(sending));
  vi.advanceTimersByTime(30_000);
  await ended;
});

test('a client has five seconds to read its response after its network is cut, even if it is silent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { port, server, cuts } = await guarded(async (_connections, _request, response) => {
    response.writeHead(413, { connection: 'close' }).end('refused');
  });
  const chunk = Buffer.alloc(16 * 1024 * 1024);
  // The first connection sends all these bytes, and the second one belongs to a network that did.
  for (const cut of [1, 2]) {
    const accepting = once(server, 'connection') as Promise<[Socket]>;
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${2 ** 40}\r\n\r\n`);
    const sending = setInterval(() => socket.writableNeedDrain || socket.write(chunk), 1);
    onTestFinished(() => clearInterval(sending));
    const [accepted] = await accepting;
    await expect.poll(() => cuts.length).toBe(cut);
    // Longer than the silence after which a connection is destroyed.
    clearInterval(sending);
    await once(socket.setTimeout(1_500), 'timeout');
    expect(accepted.destroyed).toBe(false);
    const ended = once(accepted, 'close');
    vi.advanceTimersByTime(5_000);
    await ended;
  }
});

type Handle = (connections: Connections, request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function guarded(
  handle: Handle,
  { settings = {}, proxies = '' }: { settings?: Record<string, string>; proxies?: string } = {},
): Promise<{ port: number; server: Server; cuts: string[] }> {
  const cuts: string[] = [];
  const config = gatewayConfig.parse({
    NATTER_NATS_URL: 'nats://unused',
    NATTER_REDIS_URL: 'redis://unused',
    ...settings,
  });
  const server = createServer((request, response) => void handle(connections, request, response));
  const connections = guardConnections(server, config, trustedProxies(proxies), (reason) => void cuts.push(reason));
  onTestFinished(() => {
    vi.restoreAllMocks();
    connections.stop();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: (server.address() as AddressInfo).port, server, cuts };
}

/** Sends bytes, and begins to read some time after the server has responded. */
async function readLate(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  socket.write(bytes);
  await setTimeout(300);
  return text(socket);
}
