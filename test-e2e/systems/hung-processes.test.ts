import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { createStopCount } from '@natter/local/child';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import { openSystem } from '../open-system.ts';

let system: System;
const lines: string[] = [];
beforeAll(async () => {
  system = await openSystem({
    replicas: { messaging: 2 },
    replacesStopped: true,
    // Any free port for the inspector, which a signal opens.
    env: { NODE_OPTIONS: '--inspect-port=0' },
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
  request(system.url, system.people.member, 'POST /messages', {
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

test('a process in an endless loop logs its position and is replaced, and all requests succeed', async () => {
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
  const find = () => lines.find((line) => line.includes('the event loop hangs, the process ends'));
  await expect.poll(find).toBeDefined();
  const told = find();
  expect(JSON.parse(told ?? '{}')).toMatchObject({
    level: 60,
    service: 'messaging',
    pid: before,
    stack: expect.stringContaining('at endlessLoop ('),
  });
});

interface Attempt {
  openedAt: number;
  outcome: number | 'reset';
}

/** Sends one request on a new connection. */
async function requestOnNewConnection(): Promise<Attempt> {
  const { email, api_key } = system.people.member;
  const options = { agent: false, auth: `${email}:${api_key}` };
  const openedAt = performance.now();
  const outcome = await new Promise<Attempt['outcome']>((resolve, reject) => {
    const asked = get(`${system.url}/api/v1/users/me`, options, (response) => {
      response.resume();
      response.on('error', () => resolve('reset'));
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    asked.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? resolve('reset') : reject(error),
    );
  });
  return { openedAt, outcome };
}

test('a stopped gateway is replaced, and only connections that it had accepted are lost', async () => {
  const stopped = childOf('gateway');
  const before = stopped.pid();
  const attempts: Attempt[] = [];
  let [finished, isOver] = [0, false];
  const working = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      attempts.push(await requestOnNewConnection());
      finished++;
    }
  });
  await expect.poll(() => finished).toBeGreaterThan(20);
  stopped.kill('SIGSTOP');
  // The process may run for a moment longer, and is replaced soon.
  const isStopped = async (): Promise<boolean> =>
    /^State:\s+[TZ]/m.test(await readFile(`/proc/${before}/status`, 'utf8').catch(() => 'State: Z'));
  await expect.poll(isStopped, { interval: 20 }).toBe(true);
  const stoppedAt = performance.now();
  const meanwhile = await Promise.all(Array.from({ length: 40 }, requestOnNewConnection));
  await expect.poll(() => stopped.pid()).not.toBe(before);
  await stopped.ready();
  const replacedAt = finished;
  await expect.poll(() => finished).toBeGreaterThan(replacedAt + 20);
  isOver = true;
  await Promise.all(working);
  const later = [...meanwhile, ...attempts.filter(({ openedAt }) => openedAt > stoppedAt)];
  expect(new Set(later.map(({ outcome }) => outcome))).toEqual(new Set([200]));
  expect((await send('after')).status).toBe(200);
});

test('a connection that is opened while all gateways are down waits for the next gateway', async () => {
  const gateways = system.children.filter(({ program }) => program === 'gateway');
  const before = gateways.map((gateway) => gateway.pid());
  for (const gateway of gateways) gateway.kill('SIGKILL');
  await expect.poll(() => before.filter(isRunning)).toEqual([]);
  const meanwhile = await Promise.all(Array.from({ length: 40 }, requestOnNewConnection));
  expect(new Set(meanwhile.map(({ outcome }) => outcome))).toEqual(new Set([200]));
});

function isRunning(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a process is replaced after it was stopped for three seconds without a break', () => {
  const seen = createStopCount();
  expect([true, true, true, true, true, false].map(seen)).toEqual([false, false, false, false, false, false]);
  expect([true, true, true, true, true, true].map(seen)).toEqual([false, false, false, false, false, true]);
});
