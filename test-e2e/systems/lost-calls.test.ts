import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Credentials, request } from '../api.ts';
import { randomOf } from '../kills.ts';

let system: System;
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-test-'));
  system = await startSystem({
    dataDir,
    replicas: 2,
    env: { ...process.env, NATTER_RATE_LIMIT: '1000000' },
    log: () => undefined,
  });
});
afterAll(() => system?.stop());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));

interface Report {
  sent: number;
  failures: string[];
  longestMs: number;
  inFlight: number[];
}

/** Writes and reads of many clients, none of them with a key and none tried again, while `disturb` does its worst. */
async function under(topic: string, disturb: (tick: () => void) => Promise<void>): Promise<Report> {
  const people = Object.values(system.people).slice(0, 4) as Credentials[];
  const report: Report = { sent: 0, failures: [], longestMs: 0, inFlight: [] };
  let isOver = false;
  let inFlight = 0;
  const ask = async (who: Credentials, method: string, path: string, form: Record<string, unknown>) => {
    const began = performance.now();
    inFlight++;
    const { status, body } = await request(system.url, who, method, path, form).finally(() => inFlight--);
    report.longestMs = Math.max(report.longestMs, performance.now() - began);
    if (status !== 200) report.failures.push(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const working = Array.from({ length: 16 }, async (_, client) => {
    const who = people[client % people.length] as Credentials;
    for (let count = 0; !isOver; count++) {
      const content = `${topic} ${client} ${count}`;
      const { id } = await ask(who, 'POST', '/messages', { type: 'channel', to: 'general', topic, content });
      report.sent++;
      if (id === undefined) continue;
      await ask(who, 'POST', `/messages/${id}/reactions`, { emoji_name: 'smile' });
      await ask(who, 'PATCH', `/messages/${id}`, { content: `${content}.` });
      await ask(who, 'GET', `/messages/${id}`, {});
    }
  });
  await disturb(() => report.inFlight.push(inFlight));
  isOver = true;
  await Promise.all(working);
  return report;
}

/** Every message is there once. */
async function expectOnce(topic: string, { sent }: Report): Promise<void> {
  const contents: string[] = [];
  for (let anchor = 0; ; ) {
    const { status, body } = await request(system.url, system.people.owner, 'GET', '/messages', {
      anchor,
      include_anchor: false,
      num_before: 0,
      num_after: 1_000,
      apply_markdown: false,
      narrow: [{ operator: 'topic', operand: topic }],
    });
    expect(status).toBe(200);
    contents.push(...body.messages.map((message: { content: string }) => message.content));
    if (body.found_newest) break;
    anchor = body.messages.at(-1).id;
  }
  expect(contents.length - new Set(contents).size).toBe(0);
  expect(contents.length).toBe(sent);
}

const tell = (what: string, { sent, inFlight, longestMs }: Report) =>
  console.log(
    `${what}: seed ${seed}, ${sent} messages, in flight ${inFlight.join(' ')}, longest ${Math.round(longestMs)} ms`,
  );

test('a write whose process is killed is done once by another, and no request fails', {
  timeout: 180_000,
}, async () => {
  const random = randomOf(seed);
  const report = await under('killed', async (tick) => {
    for (let round = 0; round < 6; round++) {
      await pause(300 + random() * 500);
      const all = system.children.filter(({ program }) => program === 'messaging');
      const victim = all[Math.floor(random() * all.length)];
      const before = victim?.pid();
      tick();
      victim?.kill('SIGKILL');
      while (victim?.pid() === before) await pause(20);
      await victim?.ready();
    }
  });
  tell('messaging killed 6 times', report);
  expect(report.failures).toEqual([]);
  expect(Math.min(...report.inFlight)).toBeGreaterThan(0);
  await expectOnce('killed', report);
});

test('a restart of NATS delays what is under way, and nothing fails or is done twice', {
  timeout: 180_000,
}, async () => {
  const { nats } = system.servers;
  const report = await under('cut', async (tick) => {
    for (let round = 0; round < 3; round++) {
      await pause(1_000);
      tick();
      await nats.kill('SIGKILL');
      await pause(300);
      await nats.start();
      await pause(2_000);
    }
  });
  tell('NATS restarted 3 times', report);
  expect(report.failures).toEqual([]);
  expect(Math.min(...report.inFlight)).toBeGreaterThan(0);
  await expectOnce('cut', report);
});
