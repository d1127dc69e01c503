import type { NatsConnection } from '@nats-io/nats-core';
import { expect, test, vi } from 'vitest';
import { watchProcess, watchStandstills } from './standstills.ts';

test('calls that may have waited in a stopped process have less time left, or none', async () => {
  const drained: (() => void)[] = [];
  const flush = (): Promise<void> => new Promise((resolve) => void drained.push(resolve));
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  try {
    const standstills = watchStandstills({ flush } as unknown as NatsConnection);
    clock.mockReturnValue(1_500);
    expect(standstills.remainingOf(15_000)).toBe(15_000);
    clock.mockReturnValue(7_500);
    expect(standstills.remainingOf(15_000)).toBe(9_000);
    expect(standstills.remainingOf(10_000)).toBeUndefined();
    clock.mockReturnValue(8_000);
    expect(standstills.remainingOf(15_000)).toBe(8_500);
    clock.mockReturnValue(20_000);
    expect(standstills.remainingOf(15_000)).toBeUndefined();
    drained.shift()?.();
    // Calls of the second standstill may still be unread.
    await expect.poll(() => standstills.remainingOf(30_000)).toBe(18_000);
    drained.shift()?.();
    await expect.poll(() => standstills.remainingOf(15_000)).toBe(15_000);
  } finally {
    clock.mockRestore();
  }
});

test('a process knows since when it stood still', () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  try {
    const watch = watchProcess();
    clock.mockReturnValue(1_900);
    expect(watch.stoodStillSince(1_000)).toBe(false);
    clock.mockReturnValue(4_000);
    expect([1_000, 3_000, 4_000].map(watch.stoodStillSince)).toEqual([true, true, false]);
  } finally {
    clock.mockRestore();
  }
});
