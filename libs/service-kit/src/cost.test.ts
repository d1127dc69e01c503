import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let usedMs = 0;
let cost: typeof import('./cost.ts');

beforeEach(async () => {
  vi.useFakeTimers();
  usedMs = 0;
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: usedMs * 1_000, system: 0 }));
  // The module compares with the time that the process had used when it was loaded.
  vi.resetModules();
  cost = await import('./cost.ts');
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The process computes all the time. */
async function compute(ms: number): Promise<void> {
  usedMs += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

/** Cost in milliseconds of a request that takes 100 ms. */
const request = (): Promise<number> =>
  cost.measureCost(async (spentMs) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return spentMs();
  });

test('requests in progress share the CPU time of their process', async () => {
  const both = Promise.all([request(), request()]);
  await compute(100);
  expect(await both).toEqual([50, 50]);
});

test('a request shares CPU time with active polls, and is charged for all of it while the polls wait', async () => {
  const polls = [1, 2, 3].map(() =>
    cost.withoutCharge(async (idle) => {
      await new Promise((resolve) => setTimeout(resolve, 40));
      await idle(new Promise((resolve) => setTimeout(resolve, 60)));
    }),
  );
  const spentMs = request();
  await compute(40);
  await compute(60);
  expect(await spentMs).toBe(40 / 4 + 60);
  await Promise.all(polls);
});
