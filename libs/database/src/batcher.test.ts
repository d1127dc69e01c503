import { ChatError } from '@natter/contracts';
import { describe, expect, test, vi } from 'vitest';
import { createBatcher } from './batcher.ts';
import { currentDeadline, tooLate, withDeadline } from './deadline.ts';

/** Look-ups that are answered when the test decides. */
function held() {
  const batches: number[][] = [];
  const release: (() => void)[] = [];
  const ask = createBatcher((asked: number[]) => {
    batches.push(asked);
    return new Promise<number[]>((resolve) => release.push(() => resolve(asked.map((one) => one * 10))));
  });
  const next = async (): Promise<void> => {
    await expect.poll(() => release.length, { interval: 1 }).toBeGreaterThan(0);
    release.shift()?.();
  };
  return { ask, batches, next };
}
const unavailable = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

describe('look-ups of a kind', () => {
  test('share one batch if they come together or while a batch runs, and each gets its own result', async () => {
    const { ask, batches, next } = held();
    const first = [ask(1), ask(2)];
    await expect.poll(() => batches).toEqual([[1, 2]]);
    const second = [ask(3), ask(4), ask(5)];
    await next();
    expect(await Promise.all(first)).toEqual([10, 20]);
    await next();
    expect(await Promise.all(second)).toEqual([30, 40, 50]);
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  test('are batched by at most 100, and are rejected if 10,000 already wait', async () => {
    const { ask, batches, next } = held();
    const all = Array.from({ length: 10_001 }, (_, index) => ask(index).catch((error: unknown) => error));
    expect(await all[10_000]).toEqual(unavailable);
    expect(await all[10_000]).toBeInstanceOf(ChatError);
    for (let batch = 0; batch < 100; batch++) await next();
    expect((await Promise.all(all.slice(0, 10_000))).slice(-1)).toEqual([99_990]);
    expect(batches.map((batch) => batch.length)).toEqual(Array.from({ length: 100 }, () => 100));
  });

  test('are rejected without running if they waited longer than their deadline', async () => {
    const { ask, batches, next } = held();
    const first = ask(1);
    await expect.poll(() => batches).toEqual([[1]]);
    const late = ask(2).catch((error: unknown) => error);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 11_000);
    const recent = ask(3);
    await next();
    await first;
    expect(await late).toEqual(unavailable);
    clock.mockRestore();
    await next();
    expect(await recent).toBe(30);
    expect(batches).toEqual([[1], [3]]);
  });

  test('still run if the wall clock is set forward while they wait', async () => {
    const { ask, batches, next } = held();
    const first = ask(1);
    await expect.poll(() => batches).toEqual([[1]]);
    const waiting = ask(2);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    await next();
    await first;
    await expect.poll(() => batches).toEqual([[1], [2]]);
    clock.mockRestore();
    await next();
    expect(await waiting).toBe(20);
  });

  test('do not wait for a batch that is stuck, and a deadline ends the stuck one', async () => {
    const batches: number[][] = [];
    const ask = createBatcher((asked: number[]) => {
      batches.push(asked);
      return asked.includes(1) ? new Promise<number[]>(() => undefined) : Promise.resolve(asked);
    });
    const stuck = withDeadline(400, () => ask(1)).catch((error: unknown) => error);
    await expect.poll(() => batches).toEqual([[1]]);
    expect(await ask(2)).toBe(2);
    expect(await stuck).toEqual(unavailable);
    expect(batches).toEqual([[1], [2]]);
  });

  test('are tried again if their batch took too long and their request has time left', async () => {
    vi.useFakeTimers();
    try {
      let batches = 0;
      const ask = createBatcher((asked: number[]) =>
        ++batches === 1
          ? new Promise<number[]>((_, reject) => currentDeadline()?.onEnd(() => reject(tooLate())))
          : Promise.resolve(asked),
      );
      const given = [withDeadline(15_000, () => ask(1)), withDeadline(4_000, () => ask(2)), ask(3)];
      const ends = Promise.allSettled(given);
      await vi.advanceTimersByTimeAsync(6_000);
      expect(await ends).toEqual([
        { status: 'fulfilled', value: 1 },
        { status: 'rejected', reason: unavailable },
        { status: 'rejected', reason: unavailable },
      ]);
      expect(batches).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });
});
