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
