import { ChatError } from '@natter/contracts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSlowRefusals, type SlowRefusals } from './slow-refusals.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limited = () => new ChatError('RATE_LIMIT_HIT', 'API usage exceeded rate limit');

/** Number of refusals that a caller got who sends the next request after each. */
async function refusalsIn(ms: number, refusals: SlowRefusals, who: string): Promise<number> {
  let count = 0;
  const end = Date.now() + ms;
  const client = async (): Promise<void> => {
    while (Date.now() < end) {
      await refusals.delayOf(refusals.mark(limited(), who));
      if (++count > 10_000) throw new Error('the caller is not slowed down');
    }
  };
  const done = client();
  await vi.advanceTimersByTimeAsync(ms + 2_000);
  await done;
  return count;
}

test('a caller who keeps sending after refusals gets about one refusal a second', async () => {
  const count = await refusalsIn(30_000, createSlowRefusals(), '1:user:1');
  expect(count).toBeGreaterThan(40);
  expect(count).toBeLessThan(70);
});

test('the first refusals of another caller are immediate, and those of the same caller again after a minute', async () => {
  const refusals = createSlowRefusals();
  await refusalsIn(10_000, refusals, '1:user:1');
  const begun = Date.now();
  expect(refusals.delayOf(refusals.mark(limited(), '1:user:2'))).toBeUndefined();
  expect(Date.now()).toBe(begun);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(refusals.delayOf(refusals.mark(limited(), '1:user:1'))).toBeUndefined();
  expect(Date.now()).toBe(begun + 60_000);
});

test('only a few of many simultaneous refusals wait, per caller and in total', async () => {
  const refusals = createSlowRefusals();
  const refuse = (who: string) => refusals.delayOf(refusals.mark(limited(), who));
  /** How many of 1,000 refusals come at once, wait, and end the connection. */
  const manyOf = async (who: string) => {
    const delays = Array.from({ length: 1_000 }, () => refuse(who));
    const waiting = refusals.waiting;
    const prompt = delays.filter((delay) => delay === undefined).length;
    return { prompt, waiting, delays };
  };
  const first = await manyOf('1:user:1');
  expect([first.prompt, first.waiting]).toEqual([20, 200]);
  for (let user = 2; user <= 100; user++) await manyOf(`1:user:${user}`);
  expect(refusals.waiting).toBe(10_000);
  await vi.advanceTimersByTimeAsync(2_000);
  const results = await Promise.all(first.delays);
  expect(results.filter((isSent) => isSent === true)).toHaveLength(200);
  expect(results.filter((isSent) => isSent === false)).toHaveLength(780);
  expect(refusals.waiting).toBe(0);
});

test('other errors are sent at once', () => {
  const refusals = createSlowRefusals();
  for (let count = 0; count < 100; count++) expect(refusals.delayOf(limited())).toBeUndefined();
});
