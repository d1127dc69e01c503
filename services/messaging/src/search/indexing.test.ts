import type { Database } from '@natter/database';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startIndexing } from './indexing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A database in which each message takes this long to index, and a statement is cancelled after 30 seconds. */
function databaseWith(msPerMessage: number) {
  const sizes: number[] = [];
  let indexed = 0;
  const one = async ({ values }: { values: readonly unknown[] }) => {
    const size = Number(values[0]);
    sizes.push(size);
    const tookMs = size * msPerMessage;
    await new Promise((resolve) => setTimeout(resolve, Math.min(tookMs, 30_000)));
    if (tookMs > 30_000) throw new Error('canceling statement due to statement timeout');
    indexed += size;
    return { indexed: size };
  };
  return { database: { one } as unknown as Database, sizes, indexed: () => indexed };
}

test.each([1_000, 20_000])(
  'messages that take %i ms each are indexed, in batches that are not cancelled',
  async (ms) => {
    const { database, sizes, indexed } = databaseWith(ms);
    const failed: unknown[] = [];
    const stop = startIndexing(database, (error) => failed.push(error));
    await vi.advanceTimersByTimeAsync(600_000);
    const stopping = stop();
    await vi.advanceTimersByTimeAsync(60_000);
    await stopping;
    expect(indexed()).toBeGreaterThan(5);
    expect(failed.length).toBeLessThan(3);
    expect(sizes.at(-1)).toBe(1);
  },
);

test('a batch of usual messages is as large as possible', async () => {
  const { database, sizes } = databaseWith(1);
  const stop = startIndexing(database, () => undefined);
  await vi.advanceTimersByTimeAsync(60_000);
  const stopping = stop();
  await vi.advanceTimersByTimeAsync(60_000);
  await stopping;
  expect(new Set(sizes)).toEqual(new Set([200]));
});
