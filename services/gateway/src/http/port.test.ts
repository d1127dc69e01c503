import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { BoundSocket, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createPort } from './port.ts';

const at = { host: '127.0.0.1', port: 0 };

function open() {
  const server = createServer((_, response) => response.end('here'));
  const port = createPort(server);
  onTestFinished(() => {
    server.closeAllConnections();
    return port.close();
  });
  return { server, port };
}

async function connected(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

test.runIf(process.platform === 'linux')('a turn of the event loop accepts many connections', async () => {
  const { server, port } = open();
  const number = await port.listen(at);
  let [accepted, turns] = [0, 0];
  server.on('connection', () => accepted++);
  const count = 320;
  const code = `
    import { once } from 'node:events';
    import { connect } from 'node:net';
    const sockets = Array.from({ length: ${count} }, () => connect(${number}, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    process.exit();
  `;
  // This process accepts nothing until all are connected.
  execFileSync(process.execPath, ['--input-type=module', '-e', code]);
  expect(accepted).toBe(0);
  while (accepted < count) {
    turns++;
    await nextTurn();
  }
  expect(turns).toBeLessThan(160);
});

test('a request is answered on every connection', async () => {
  const { port } = open();
  const number = await port.listen(at);
  const answers = await Promise.all(
    Array.from({ length: 64 }, async () => (await fetch(`http://127.0.0.1:${number}/`)).text()),
  );
  expect(answers).toEqual(Array.from({ length: 64 }, () => 'here'));
});

test('a port in use by another program is rejected', async () => {
  const other = createTcpServer().listen(at);
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  await expect(open().port.listen({ ...at, port })).rejects.toThrow('EADDRINUSE');
  const first = open();
  const number = await first.port.listen(at);
  await expect(open().port.listen({ ...at, port: number })).rejects.toThrow('EADDRINUSE');
});

test('connections that wait when the port closes are answered', async () => {
  const { server, port } = open();
  const number = await port.listen(at);
  const sockets = await connected(number, 90);
  const closed = port.close();
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const answers = await Promise.all(sockets.map(async (socket) => String((await once(socket, 'data'))[0])));
  expect(answers.every((answer) => answer.endsWith('here'))).toBe(true);
  await closed;
  expect(server.listening).toBe(false);
  await expect(fetch(`http://127.0.0.1:${number}/`)).rejects.toThrow();
});

test.runIf(process.platform === 'linux')(
  'with inherited descriptors, many connections wait for a stopped process',
  async () => {
    const bound = new BoundSocket(at);
    const code = `
    import { createServer } from 'node:http';
    import { createPort } from ${JSON.stringify(new URL('port.ts', import.meta.url))};
    await createPort(createServer((_, response) => response.end('here'))).listen({ fds: [3, 4] });
    console.log('listening');
  `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit', bound.fd(), bound.fd()],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    if (!child.stdout) throw new Error('the child has no output');
    await once(child.stdout, 'data');
    const { port } = bound.address();
    bound.close();
    child.kill('SIGSTOP');
    const sockets = await connected(port, 700);
    child.kill('SIGCONT');
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const answers = await Promise.all(sockets.map(async (socket) => String((await once(socket, 'data'))[0])));
    expect(answers.every((answer) => answer.endsWith('here'))).toBe(true);
  },
);
