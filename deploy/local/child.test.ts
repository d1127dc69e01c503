import { expect, test } from 'vitest';
import { startChild } from './child.ts';

test('a process that the system could not start is started later', async () => {
  const { execPath } = process;
  const lines: string[] = [];
  const count = (text: string): number => lines.filter((line) => line.includes(text)).length;
  // Without settings it ends by itself, and is started again.
  const child = startChild({
    program: 'presence',
    index: 0,
    env: {},
    fd: undefined,
    onLine: (line) => lines.push(line),
    onMail: undefined,
    replacesStopped: false,
  });
  try {
    await expect.poll(() => count('Bad configuration')).toBeGreaterThan(0);
    process.execPath = '/nowhere/node';
    await expect.poll(() => count('could not be started')).toBeGreaterThan(1);
    await expect(child.ready()).rejects.toThrow('/nowhere/node');
    process.execPath = execPath;
    const before = count('Bad configuration');
    await expect.poll(() => count('Bad configuration')).toBeGreaterThan(before);
  } finally {
    process.execPath = execPath;
    await child.stop();
  }
});
