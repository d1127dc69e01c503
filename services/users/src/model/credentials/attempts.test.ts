import type { LogRedis } from '@natter/event-log';
import { expect, test } from 'vitest';
import { createAttempts } from './attempts.ts';

test('a count without an expiry gets one with the next attempt', async () => {
  const key = 'natter:{1}:rate:guess-turn:192.0.2.1';
  const counts = new Map([[key, 1]]);
  const expiries = new Map<string, number>();
  const redis = {
    incr: async (name: string) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return counts.get(name);
    },
    ttl: async (name: string) => expiries.get(name) ?? -1,
    expire: async (name: string, seconds: number) => void expiries.set(name, seconds),
  };
  const attempts = createAttempts({ redis } as unknown as LogRedis);
  expect(await attempts.add(1, 'guess-turn:192.0.2.1', 10)).toBe(2);
  expect([...expiries]).toEqual([[key, 10]]);
  // An expiry that is set is not extended.
  expiries.set(key, 3);
  expect(await attempts.add(1, 'guess-turn:192.0.2.1', 10)).toBe(3);
  expect(expiries.get(key)).toBe(3);
});

test('while Redis is slow, counts continue from its last answer', async () => {
  let isSlow = false;
  const answer = async (value: number): Promise<number> => (isSlow ? new Promise(() => undefined) : value);
  const redis = { incr: () => answer(5), ttl: () => answer(30), expire: () => answer(1), del: () => answer(1) };
  const attempts = createAttempts({ redis } as unknown as LogRedis);
  expect([await attempts.add(1, 'guess', 60), await attempts.left(1, 'wait')]).toEqual([5, 30]);
  isSlow = true;
  expect(await attempts.add(1, 'guess', 60)).toBe(6);
  const left = await attempts.left(1, 'wait');
  expect(left > 0 && left <= 30).toBe(true);
  await attempts.drop(1, 'guess');
  expect(await attempts.add(1, 'guess', 60)).toBe(1);
});
