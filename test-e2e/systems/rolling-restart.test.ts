import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { underDisturbance } from '../disturbance.ts';
import { follow } from '../follower.ts';

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

/** Stops a process, and waits until it runs again. */
async function restart(child: System['children'][number]): Promise<void> {
  const before = child.pid();
  child.kill('SIGTERM');
  while (child.pid() === before) await pause(20);
  await child.ready();
}

test('every process restarts, one after the other, under load: no request fails, no queue is lost, none waits longer than a minute', async () => {
  // These queues receive only heartbeats.
  const { owner, guest } = system.people;
  const quiet = await Promise.all(
    [owner, guest, owner, guest].map((who) => follow(system.url, who, {}, ['realm_emoji'])),
  );
  const began = Date.now();
  const disturb = async (tick: () => void): Promise<void> => {
    // Gateways first, so that the last polls that they ended are then held for the longest time.
    for (const child of system.children.toReversed()) {
      await pause(100 + Math.random() * 300);
      tick();
      await restart(child);
    }
  };
  // The client would send on idle connections that a gateway has closed, before it learns of their end.
  const report = await underDisturbance(system, 8, disturb, { connection: 'close' });
  // Long enough for a heartbeat to be due.
  await pause(Math.max(0, 65_000 - (Date.now() - began)));
  const longestHeld = Math.max(...quiet.map((follower) => follower.longestWaitMs()));
  const longest = Math.max(report.longestWaitMs, longestHeld);
  for (const follower of quiet) follower.stop();
  console.log(
    `${system.children.length} restarts, ${report.acknowledged} acknowledged, in flight at each ${report.inFlightAtDisturbances.join(' ')}, longest send ${Math.round(report.longestSendMs)} ms, longest wait of a queue with events ${report.longestWaitMs} ms, of one with heartbeats alone ${longestHeld} ms`,
  );
  expect(report.problems).toEqual([]);
  expect([...report.failures, ...quiet.flatMap((follower) => follower.failures)]).toEqual([]);
  expect(quiet.map((follower) => follower.lost)).toEqual(quiet.map(() => undefined));
  // A busy machine answers a poll as late as it answers a send.
  expect(longest).toBeLessThanOrEqual(60_000 + report.longestSendMs);
  expect(Math.max(...report.inFlightAtDisturbances)).toBeGreaterThan(0);
});
