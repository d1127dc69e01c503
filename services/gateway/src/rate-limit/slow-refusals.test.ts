import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSlowRefusals, type SlowRefusals } from './slow-refusals.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Number of refusals that a caller got who sends the next request after each. */
async function refusalsIn(ms: number, refusals: SlowRefusals, who: string): Promise<number> {
  let count = 0;
  const end = Date.now() + ms;
  const client = async (): Promise<void> => {
    while (Date.now() < end) {
      await refusals.wait(who);
      if (++count > 10_000) throw new Error('the caller is not slowed down');
    }
  };
  const done = client();
  await vi.advanceTimersByTimeAsync(ms + 2_000);
  await done;
  return count;
}

test('a caller who goes on after refusals is told about one a second', async () => {
  const count = await refusalsIn(30_000, createSlowRefusals(), '1:user:1');
  expect(count).toBeGreaterThan(40);
  expect(count).toBeLessThan(70);
});

test('the first refusals of another caller come at once, and again after a minute', async () => {
  const refusals = createSlowRefusals();
  await refusalsIn(10_000, refusals, '1:user:1');
  const begun = Date.now();
  await refusals.wait('1:user:2');
  expect(Date.now()).toBe(begun);
  await vi.advanceTimersByTimeAsync(60_000);
  await refusals.wait('1:user:1');
  expect(Date.now()).toBe(begun + 60_000);
});
