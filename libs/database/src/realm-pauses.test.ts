import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRealmPauses } from './realm-pauses.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Begins a pause of realm 1 after a transaction of this duration; `hinted` contains the times of the hints that follow. */
function pausing(tookMs: number, isAwaited = false) {
  const beganAt = performance.now();
  const hinted: [realmId: number, isAwaited: boolean, afterMs: number][] = [];
  const pauses = createRealmPauses((realmId, isAwaited) => {
    hinted.push([realmId, isAwaited, performance.now() - beganAt]);
  });
  pauses.begin(1, tookMs, isAwaited);
  return { pauses, hinted };
}

test('a realm pauses for twice the duration of a long transaction, at most a second, and is hinted then', async () => {
  for (const [tookMs, pauseMs] of [
    [100, 200],
    [5_000, 1_000],
  ] as const) {
    const { pauses, hinted } = pausing(tookMs);
    expect([pauses.holds(1), pauses.holds(2)]).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(hinted).toEqual([[1, false, pauseMs]]);
    expect(pauses.holds(1)).toBe(false);
  }
});

test('no pause follows a short transaction, and no hint a pause without one', async () => {
  expect(pausing(49).pauses.holds(1)).toBe(false);
  const { hinted } = pausing(100);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(hinted).toEqual([]);
});

test('if a request waits, the pause is no longer than the transaction', async () => {
  const early = pausing(100);
  await vi.advanceTimersByTimeAsync(30);
  for (const isAwaited of [false, true, true]) expect(early.pauses.holds(1, isAwaited)).toBe(true);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(early.hinted).toEqual([[1, true, 100]]);

  const waiting = pausing(100, true);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(waiting.hinted).toEqual([[1, true, 100]]);

  const late = pausing(100);
  await vi.advanceTimersByTimeAsync(150);
  late.pauses.holds(1, true);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(late.hinted).toEqual([[1, true, 150]]);
});
