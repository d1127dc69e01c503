import { addCost } from '@natter/service-kit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCostlyLane } from './costly-lane.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  vi.spyOn(process, 'cpuUsage').mockReturnValue(process.cpuUsage());
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * How long the requests of a realm wait at most, while the event loops are late the whole time. Its requests cost more than
 * those of another realm, which sends few. `unreported`: the cost of work for events by realm.
 * Only requests since `sinceMs` count.
 */
async function longestWaitMs(unreported: ReadonlyMap<number, number>, sinceMs = 0): Promise<number> {
  const lane = createCostlyLane({
    // It varies, so it does not count as lag with another cause.
    lag: () => ({ ms: 0, longMs: looks++ % 2 === 0 ? 1 : 100 }),
    shared: { publish: () => undefined, ofOthers: () => new Map() },
    unreported: () => unreported,
    crowding: () => new Set(),
    quietLagMs: 0.5,
    now: () => Date.now(),
  });
  let looks = 0;
  let longestMs = 0;
  const end = Date.now() + 20_000;
  const client = async (realmId: number, userId: number, costMs: number): Promise<void> => {
    while (Date.now() < end) {
      const asked = Date.now();
      await lane.run({ realmId, userId }, async () => {
        if (realmId === 1 && asked >= sinceMs) longestMs = Math.max(longestMs, Date.now() - asked);
        await sleep(costMs);
        addCost(costMs);
      });
      await sleep(100);
    }
  };
  const clients = [1, 2, 3, 4].map((userId) => client(1, userId, 80));
  clients.push(client(2, 1, 1));
  await vi.advanceTimersByTimeAsync(60_000);
  await Promise.all(clients);
  return longestMs;
}

test('users are not held back while work for events of another realm causes the lag', async () => {
  // Without such work, the users seem to cause it.
  expect(await longestWaitMs(new Map())).toBeGreaterThan(1_000);
  expect(await longestWaitMs(new Map([[3, 20_000]]))).toBeLessThan(500);
});

test('users are no longer held back when the work for events that causes the lag is reported', async () => {
  const unreported = new Map<number, number>();
  setTimeout(() => unreported.set(3, 20_000), 10_000);
  const sinceMs = Date.now() + 12_000;
  expect(await longestWaitMs(unreported, sinceMs)).toBeLessThan(500);
});

test('users are held back while their requests cost more than work for events of another realm', async () => {
  expect(await longestWaitMs(new Map([[3, 100]]))).toBeGreaterThan(1_000);
});
