import type { Owner } from '@natter/service-kit';
import { afterEach, expect, test, vi } from 'vitest';
import { startFullMembers } from './full-members.ts';

afterEach(() => void vi.useRealTimers());

test('members of a realm become full members although those of another realm cannot', async () => {
  vi.useFakeTimers();
  const database = { any: async () => [{ id: 1 }, { id: 2 }] } as unknown as Owner['database'];
  const done: number[] = [];
  const background = (async (realmId: number) => {
    if (realmId === 1) throw new Error('always');
    done.push(realmId);
  }) as Owner['background'];
  const failed: (number | undefined)[] = [];
  const stop = startFullMembers({ database, background }, (_, realmId) => failed.push(realmId));
  await vi.advanceTimersByTimeAsync(70_000);
  await stop();
  expect([failed, done]).toEqual([[1], [2]]);
});
