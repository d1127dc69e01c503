import { existsSync } from 'node:fs';
import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answersWith } from './port.ts';
import { startOnPort } from './server-process.ts';

const program = (port: number): string =>
  `require('node:net').createServer((socket) => socket.end('here')).listen(${port}, '127.0.0.1')`;

test.skipIf(!existsSync('/dev/full'))('a server starts, is killed and stopped while the disk is full', async () => {
  const home = await mkdtemp(join(tmpdir(), 'natter-test-'));
  await symlink('/dev/full', join(home, 'pid'));
  const lines: string[] = [];
  let answers = async (): Promise<boolean> => false;
  const server = await startOnPort(home, async (port) => {
    answers = () => answersWith(port, '', 'here');
    return {
      name: 'test',
      url: `test://127.0.0.1:${port}`,
      home,
      command: process.execPath,
      args: ['-e', program(port)],
      env: {},
      runAs: {},
      stopSignal: 'SIGTERM',
      answers,
      log: (line) => lines.push(line),
    };
  });
  expect(lines.join()).toContain('ENOSPC');
  await expect.poll(() => answers()).toBe(true);
  await server.kill('SIGKILL');
  expect(await answers()).toBe(false);
  await server.start();
  await expect.poll(() => answers()).toBe(true);
  await server.stop();
  expect(await answers()).toBe(false);
});
