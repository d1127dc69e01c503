import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSharedPort } from './shared-port.ts';
import { startSystem } from './system.ts';

/** A program that listens. */
async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('an open port has a URL and may be closed twice', async () => {
  const shared = await openSharedPort('localhost', 0);
  expect(shared.url).toBe(`http://127.0.0.1:${shared.port}`);
  shared.close();
  shared.close();
});

test('a port in use, a port out of range and a foreign address are rejected with advice', async () => {
  const port = await takenPort();
  await expect(openSharedPort('127.0.0.1', port)).rejects.toThrow(
    `cannot listen at 127.0.0.1:${port}: a program, perhaps another npm start, uses this port. Stop it, or set NATTER_HTTP_PORT`,
  );
  for (const wrong of [99_910, Number.NaN, -1])
    await expect(openSharedPort('127.0.0.1', wrong)).rejects.toThrow('NATTER_HTTP_PORT must be a number');
  await expect(openSharedPort('192.0.2.1', 0)).rejects.toThrow('NATTER_HTTP_HOST is no address of this machine');
});

test('a system whose port is in use does not start or touch any server', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-port-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const starting = startSystem({ dataDir, port: await takenPort(), log: () => undefined });
  await expect(starting).rejects.toThrow('uses this port');
  await expect(access(join(dataDir, 'servers'))).rejects.toThrow('ENOENT');
});
