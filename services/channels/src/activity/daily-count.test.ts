import { afterEach, expect, test, vi } from 'vitest';
import type { Service } from '../model/deciding.ts';
import { startDailyCount } from './daily-count.ts';

afterEach(() => void vi.useRealTimers());

test('the figures of realms are updated even if old counts cannot be deleted', async () => {
  vi.useFakeTimers();
  const counted: number[] = [];
  const failures: unknown[] = [];
  const away = new Error('canceling statement due to lock timeout');
  const owner = {
    database: { run: () => Promise.reject(away), any: async () => [{ realm_id: 1 }, { realm_id: 2 }] },
    background: async (realmId: number) => void counted.push(realmId),
  };
  const log = { warn: ({ err }: { err: unknown }) => failures.push(err) };
  const stop = startDailyCount({ owner } as unknown as Service, log as never);
  await vi.advanceTimersByTimeAsync(300_000);
  expect([counted, failures]).toEqual([[1, 2], [away]]);
  await stop();
});
