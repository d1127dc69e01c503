import type { LogRedis } from '@natter/event-log';
import { describe, expect, test } from 'vitest';
import { createRateLimiter } from './rate-limit.ts';

/** Counts like the script in Redis, at a time in seconds; or fails. */
function redisThatCounts(now: () => number, isUp = true): LogRedis {
  const spent = new Map<string, number>();
  return {
    now: () => now() * 1_000,
    rateScript: async (keys: string[], [weight = 0, ...args]: number[]) => {
      if (!isUp) throw new Error('away');
      const of = (key: string): number => spent.get(key) ?? 0;
      const refused = keys.findIndex((key, index) => of(key) + weight > (args[2 * index] ?? 0));
      if (refused < 0) for (const key of keys) spent.set(key, of(key) + weight);
      const [first = 0, ...others] = keys.map(of);
      return [first, refused + 1, ...others];
    },
  } as unknown as LogRedis;
}

const perMinute = (limit: number) => ({ limit, windowSeconds: 60 });

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
  const redis = redisThatCounts(() => seconds);
  const limiter = createRateLimiter(redis);
  const budgets = (who: string) =>
    ({
      realmId: 1,
      all: [
        { who, rate: perMinute(60) },
        { who: 'together', rate: perMinute(90) },
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

describe.each([
  ['with Redis', true],
  ['without Redis', false],
])('a request that would be due too late, %s,', (_, isUp) => {
  const begin = () => {
    let seconds = 1_000_000_000;
    const limiter = createRateLimiter(redisThatCounts(() => seconds, isUp));
    const budgets = (who: string, limit = 60) =>
      ({
        realmId: 1,
        all: [
          { who, rate: perMinute(limit) },
          { who: 'together', rate: perMinute(90) },
        ],
      }) as const;
    const spend = (who: string, limit?: number) => limiter.spend(budgets(who, limit), 1, 10_000);
    const untilReset = async (who: string): Promise<void> => {
      const { reset } = await limiter.spend(budgets(who), 0);
      seconds = reset;
    };
    const pass = (passed: number): void => {
      seconds += passed;
    };
    return { limiter, budgets, spend, untilReset, pass };
  };

  test('is refused and spends nothing, however often it is sent', async () => {
    const { limiter, budgets, spend, untilReset, pass } = begin();
    await untilReset('one');
    const states = [];
    for (let count = 0; count < 300; count++) states.push(await spend('one'));
    const served = states.filter(({ isOver }) => !isOver);
    // A quarter of the budget at once, and what is due within ten seconds.
    expect(served).toHaveLength(21);
    expect(Math.max(...served.map(({ aheadMs }) => aheadMs))).toBeLessThanOrEqual(10_000);
    const { remaining, resetInSeconds } = states.at(-1) ?? {};
    expect([remaining, resetInSeconds]).toEqual([39, expect.closeTo((7 / 39) * 60, 3)]);
    // The budget of others is not used up, and the caller may send again after the time that the refusal named.
    expect((await limiter.spend(budgets('other'), 0)).remaining).toBe(60);
    expect((await spend('other')).isOver).toBe(false);
    pass(resetInSeconds ?? 0);
    const { isOver, aheadMs } = await spend('one');
    expect([isOver, aheadMs]).toEqual([false, expect.closeTo(0, 3)]);
  });

  test('is served once in each window if the budget is tiny', async () => {
    const { spend, untilReset } = begin();
    await untilReset('tiny');
    const refusals = [];
    for (let count = 0; count < 3; count++) refusals.push((await spend('tiny', 1)).isOver);
    expect(refusals).toEqual([false, true, true]);
  });
});
