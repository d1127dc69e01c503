import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';

let system: System;
const lines: string[] = [];
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-test-'));
  system = await startSystem({
    dataDir,
    replicas: { messaging: 2 },
    replacesStopped: true,
    // Any free port for the inspector, which a signal opens.
    env: { ...process.env, NATTER_RATE_LIMIT: '1000000', NODE_OPTIONS: '--inspect-port=0' },
    log: () => undefined,
    onLine: (line) => lines.push(line),
  });
});
afterAll(() => system?.stop());

const childOf = (program: string) => {
  const child = system.children.find((candidate) => candidate.program === program);
  if (!child) throw new Error(`no ${program}`);
  return child;
};

const send = (content: string) =>
  request(system.url, system.people.member, 'POST', '/messages', {
    type: 'channel',
    to: 'general',
    topic: 'hangs',
    content,
  });

/** Runs code in a process through its inspector, without waiting for its end. */
async function runIn(child: ReturnType<typeof childOf>, expression: string): Promise<void> {
  const before = lines.length;
  child.kill('SIGUSR1');
  const found = () => lines.slice(before).flatMap((line) => /ws:\/\/\S+/.exec(line)?.[0] ?? [])[0];
  await expect.poll(found).toBeDefined();
  const socket = new WebSocket(found() ?? '');
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
}

test('a process in an endless loop logs where it hangs and is replaced, and no request fails', async () => {
  const hung = childOf('messaging');
  const before = hung.pid();
  await runIn(hung, 'setTimeout(function endlessLoop() { for (;;); }, 0)');
  const failures: unknown[] = [];
  let sent = 0;
  let isOver = false;
  const working = Array.from({ length: 4 }, async (_, client) => {
    for (; !isOver; sent++) {
      const { status, body } = await send(`${client} ${sent}`);
      if (status !== 200) failures.push(body);
    }
  });
  await expect.poll(() => hung.pid()).not.toBe(before);
  isOver = true;
  await Promise.all(working);
  expect(failures).toEqual([]);
  expect(sent).toBeGreaterThan(0);
  const [told] = lines.filter((line) => line.includes('the event loop hangs, the process ends'));
  expect(JSON.parse(told ?? '{}')).toMatchObject({
    level: 60,
    service: 'messaging',
    pid: before,
    stack: expect.stringContaining('at endlessLoop ('),
  });
});

test('a process that is stopped is replaced', async () => {
  const stopped = childOf('gateway');
  const before = stopped.pid();
  stopped.kill('SIGSTOP');
  await expect.poll(() => stopped.pid()).not.toBe(before);
  await stopped.ready();
  expect((await send('after')).status).toBe(200);
});
