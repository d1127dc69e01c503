import { Agent, get } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { underDisturbance } from '../disturbance.ts';
import { follow } from '../follower.ts';
import { openSystem } from '../open-system.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem({ replicas: 2 });
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

/**
 * A client that keeps its connection and is never idle for as long as a gateway drains: the gateway must announce the
 * end of the connection with an answer, before it closes it.
 */
function keepAsking(): { stop(): Promise<{ failures: string[]; opened: number }> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { email, api_key } = system.people.owner;
  const failures: string[] = [];
  let [isOver, opened] = [false, 0];
  const askOnce = (): Promise<void> =>
    new Promise((resolve) => {
      const asked = get(`${system.url}/api/v1/users/me`, { agent, auth: `${email}:${api_key}` }, (response) => {
        if (!asked.reusedSocket) opened++;
        if (response.statusCode !== 200) failures.push(`kept connection: ${response.statusCode}`);
        response.resume();
        response.once('close', resolve);
      });
      asked.once('error', (error) => {
        failures.push(`kept connection: ${error.message}`);
        resolve();
      });
    });
  const asking = (async () => {
    while (!isOver) {
      await askOnce();
      await pause(20);
      // After a delay of this process, timers come before what the sockets have received.
      await immediate();
      await immediate();
    }
    agent.destroy();
  })();
  return {
    stop: async () => {
      isOver = true;
      await asking;
      return { failures, opened };
    },
  };
}

test('a restart of every process under load fails no request, loses no queue and delays none beyond a minute', async () => {
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
  const kept = keepAsking();
  // A client with several connections would send on idle ones that a gateway has closed, before it learns of their end.
  const report = await underDisturbance(system, 8, disturb, { connection: 'close' });
  const { failures, opened } = await kept.stop();
  // Long enough for a heartbeat to be due.
  await pause(Math.max(0, 65_000 - (Date.now() - began)));
  const longestHeld = Math.max(...quiet.map((follower) => follower.longestWaitMs()));
  const longest = Math.max(report.longestWaitMs, longestHeld);
  for (const follower of quiet) follower.stop();
  console.log(
    `${system.children.length} restarts, ${report.acknowledged} acknowledged, in flight at each ${report.inFlightAtDisturbances.join(' ')}, longest send ${Math.round(report.longestSendMs)} ms, longest wait of a queue with events ${report.longestWaitMs} ms, of one with heartbeats alone ${longestHeld} ms`,
  );
  expect(report.problems).toEqual([]);
  expect([...report.failures, ...failures, ...quiet.flatMap((follower) => follower.failures)]).toEqual([]);
  expect(opened).toBeGreaterThan(1);
  expect(quiet.map((follower) => follower.lost)).toEqual(quiet.map(() => undefined));
  // A busy machine answers a poll as late as it answers a send.
  expect(longest).toBeLessThanOrEqual(60_000 + report.longestSendMs);
  expect(Math.max(...report.inFlightAtDisturbances)).toBeGreaterThan(0);
});
