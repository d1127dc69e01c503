import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { bodyOf, checkedUrl, guardedRequest, Refused } from './guarded-request.ts';
import { askAlsoSystem, askNameServers, type Resolve } from './resolve-name.ts';

const open = new Set<() => void>();
afterEach(() => {
  for (const close of open) close();
  open.clear();
});

/** A server that gives this answer to the bytes of each request. Returns its port. */
async function listen(respond: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    open.add(() => socket.destroy());
    socket.on('error', () => undefined).once('data', () => respond(socket));
  });
  open.add(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const mayReach = (address: string): boolean => address === '127.0.0.1';
const atHome: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];

function ask(port: number, { signal = AbortSignal.timeout(60_000), resolve = atHome, host = '127.0.0.1' } = {}) {
  const rules = { mayReach, resolve };
  return guardedRequest(checkedUrl(`http://${host}:${port}/`, rules), rules, {
    headers: {},
    signal,
  });
}

/** Sends a header that never ends. */
function beginHead(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\nx: ');
  flood(socket, 'a');
}

/** Writes again and again until the connection ends. */
function flood(socket: Socket, text: string): void {
  const next = (): void => void (socket.destroyed || socket.write(text, () => setTimeout(next, 1)));
  next();
}

test('a response that switches protocols is refused', async () => {
  const port = await listen((socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
  );
  await expect(ask(port)).rejects.toThrow(new Refused('status 101'));
});

test.each(['100 Continue', '103 Early Hints'])('endless %s responses are rejected', async (status) => {
  const port = await listen((socket) => flood(socket, `HTTP/1.1 ${status}\r\n\r\n`));
  await expect(ask(port)).rejects.toThrow(new Refused('too many informational responses'));
});

test('a few informational responses precede the final one', async () => {
  const port = await listen((socket) =>
    socket.end(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`),
  );
  expect((await bodyOf(await ask(port), 10)).toString()).toBe('ok');
});

test('a connection that ends without a response is an error', async () => {
  const port = await listen((socket) => socket.end());
  await expect(ask(port)).rejects.toThrow();
});

test.each<[string, (socket: Socket) => void]>([
  ['no response', () => undefined],
  ['one informational response', (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ['a head without an end', (socket) => beginHead(socket)],
])('a request that gets %s ends at its deadline', async (_, respond) => {
  const port = await listen(respond);
  await expect(ask(port, { signal: AbortSignal.timeout(300) })).rejects.toThrow(/timeout/);
});

test.each(['', 'Content-Length: 20\r\n'])('a body that does not end fails at the deadline (%j)', async (head) => {
  const port = await listen((socket) => socket.write(`HTTP/1.1 200 OK\r\n${head}\r\nbegin`));
  const deadline = new AbortController();
  const answer = await ask(port, { signal: deadline.signal });
  deadline.abort();
  await expect(bodyOf(answer, 1_000)).rejects.toThrow();
});

/** A name server that answers nothing. */
async function silentServer(): Promise<string> {
  const socket = createSocket('udp4');
  open.add(() => socket.close());
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return `127.0.0.1:${socket.address().port}`;
}

test('a look-up on a silent name server ends with its request and does not delay other look-ups', async () => {
  const port = await listen((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  const resolve = askNameServers([await silentServer()]);
  const controller = new AbortController();
  const rules = { mayReach, resolve };
  const slow = Array.from({ length: 20 }, () =>
    guardedRequest(new URL(`http://slow.example:${port}/`), rules, { headers: {}, signal: controller.signal }).then(
      () => 'answered',
      (error: Error) => error.name,
    ),
  );
  expect((await ask(port, { host: 'quick.example' })).statusCode).toBe(204);
  expect((await lookup('localhost', { all: true })).length).toBeGreaterThan(0);
  controller.abort();
  expect(new Set(await Promise.all(slow))).toEqual(new Set(['AbortError']));
});

test('a request whose name server is silent ends at its deadline', async () => {
  const resolve = askNameServers([await silentServer()]);
  await expect(ask(9_999, { signal: AbortSignal.timeout(300), host: 'slow.example', resolve })).rejects.toThrow(
    /timeout/,
  );
});

test('names that no name server resolves are passed to the operating system, one at a time', async () => {
  const asked: string[] = [];
  const ends: (() => void)[] = [];
  const unknown: Resolve = async () => {
    throw new Error('ENOTFOUND');
  };
  const resolve = askAlsoSystem(unknown, async (name) => {
    asked.push(name);
    await new Promise<void>((end) => ends.push(end));
    return [{ address: '127.0.0.1', family: 4 }];
  });
  const controller = new AbortController();
  const first = resolve('first', new AbortController().signal);
  const ended = resolve('ended', controller.signal).catch((error: Error) => error.name);
  const third = resolve('third', new AbortController().signal);
  await expect.poll(() => asked).toEqual(['first']);
  controller.abort();
  expect(await ended).toBe('AbortError');
  expect(asked).toEqual(['first']);
  ends[0]?.();
  await expect.poll(() => asked).toEqual(['first', 'third']);
  ends[1]?.();
  expect([await first, await third]).toEqual(Array(2).fill([{ address: '127.0.0.1', family: 4 }]));
});
