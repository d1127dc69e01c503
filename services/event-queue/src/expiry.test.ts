import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startExpiry } from './expiry.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('queues expire within seconds, and all queues are counted less often, because that reads all of them', async () => {
  const asked = { expired: 0, counted: 0 };
  const database = {
    any: async () => {
      asked.expired++;
      return [];
    },
    one: async () => {
      asked.counted++;
      return { count: 7 };
    },
  };
  const shown: number[] = [];
  const measured = { expired: () => undefined, alive: (queues: number) => shown.push(queues) };
  const log = { debug: (problem: unknown) => expect(problem).toBeUndefined() };
  const expiry = startExpiry({ database } as never, { log, bus: {} } as never, measured as never);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toEqual({ expired: 1, counted: 1 });
  expect(shown).toEqual([7]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.expired).toBeGreaterThan(20);
  expect(asked.counted).toBeGreaterThan(1);
  expect(asked.counted).toBeLessThan(5);
  const stopped = expiry.stop();
  await vi.advanceTimersByTimeAsync(0);
  await stopped;
});
