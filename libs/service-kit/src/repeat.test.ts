import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { forEachApart, repeat } from './repeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('work that takes longer than its interval does not overlap with itself, and goes on after a failure', async () => {
  let running = 0;
  let runs = 0;
  let most = 0;
  const errors: unknown[] = [];
  const stop = repeat({ everyMs: 1_000, onError: (error) => errors.push(error) }, async () => {
    runs++;
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    running--;
    if (runs === 1) throw new Error('once');
  });
  await vi.advanceTimersByTimeAsync(30_000);
  expect([most, errors.length]).toEqual([1, 1]);
  expect(runs).toBeGreaterThan(3);
  const stopped = stop();
  await vi.advanceTimersByTimeAsync(5_000);
  await stopped;
  const before = runs;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(runs).toBe(before);
});

test('an item that fails does not delay others, and none begins after the stop', async () => {
  const done: number[] = [];
  const failed: number[] = [];
  const options = { isStopped: () => done.length === 3, onError: (_: unknown, item: number) => failed.push(item) };
  await forEachApart([1, 2, 3, 4, 5, 6], options, async (item) => {
    if (item === 1) throw new Error('always');
    done.push(item);
  });
  expect([failed, done]).toEqual([[1], [2, 3, 4]]);
});

test('an item with more work continues after the others had their turn', async () => {
  const done: string[] = [];
  const left = new Map([
    ['large', 3],
    ['small', 1],
  ]);
  const options = { isStopped: () => false, onError: () => undefined };
  await forEachApart([...left.keys()], options, async (item) => {
    done.push(item);
    const now = (left.get(item) ?? 0) - 1;
    left.set(item, now);
    return now > 0 ? 'more' : undefined;
  });
  expect(done).toEqual(['large', 'small', 'large', 'large']);
});
