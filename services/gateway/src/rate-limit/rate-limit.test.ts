import type { LogRedis } from '@natter/event-log';
import { expect, test } from 'vitest';
import { createRateLimiter } from './rate-limit.ts';

test('while Redis is slow, a budget continues from the count of all gateways', async () => {
  let isSlow = false;
  let spent = 7;
  const redis = {
    now: () => 1_000_000_000,
    rateScript: async (_keys: string[], [weight = 0]: number[]) => {
      if (isSlow) return new Promise(() => undefined);
      spent += weight;
      return [spent, 0];
    },
  } as unknown as LogRedis;
  const limiter = createRateLimiter(redis);
  const rate = { limit: 10, windowSeconds: 60 };
  const spend = async (weight: number) => {
    const all = [
      { who: 'user', rate },
      { who: 'network', rate: { limit: 4, windowSeconds: 60 } },
    ] as const;
    const { remaining, isOver } = await limiter.spend({ realmId: 1, all }, weight);
    return [remaining, isOver];
  };
  expect(await spend(1)).toEqual([2, false]);
  isSlow = true;
  expect(await spend(0)).toEqual([2, false]);
  expect(await spend(2)).toEqual([0, false]);
  expect(await spend(1)).toEqual([0, true]);
  isSlow = false;
  spent = 0;
  // Redis was emptied.
  expect(await spend(1)).toEqual([9, false]);
});

test('requests that wait until they are due are never refused, and use at least half of the budget', async () => {
  let seconds = 1_000_000_000;
  const spent = new Map<string, number>();
  const redis = {
    now: () => seconds * 1_000,
    rateScript: async (keys: string[], [weight = 0, ...args]: number[]) => {
      const refused = keys.findIndex((key, index) => (spent.get(key) ?? 0) + weight > (args[2 * index] ?? 0));
      if (refused < 0) for (const key of keys) spent.set(key, (spent.get(key) ?? 0) + weight);
      const [first = 0, ...others] = keys.map((key) => spent.get(key) ?? 0);
      return [first, refused + 1, ...others];
    },
  } as unknown as LogRedis;
  const limiter = createRateLimiter(redis);
  const rate = (limit: number) => ({ limit, windowSeconds: 60 });
  const budgets = (who: string) =>
    ({
      realmId: 1,
      all: [
        { who, rate: rate(60) },
        { who: 'together', rate: rate(90) },
      ],
    }) as const;
  /** When the next request of each of two clients is due. */
  const dueAt = new Map([
    ['one', seconds],
    ['two', seconds],
  ]);
  const end = seconds + 600;
  let served = 0;
  while (seconds < end) {
    for (const [who, due] of dueAt)
      if (seconds >= due) {
        const { isOver, aheadMs } = await limiter.spend(budgets(who), 1);
        expect(isOver).toBe(false);
        served++;
        dueAt.set(who, seconds + aheadMs / 1_000);
      }
    seconds += 0.1;
  }
  expect(served).toBeGreaterThan(450);
  expect(served).toBeLessThanOrEqual(11 * 90);
});
