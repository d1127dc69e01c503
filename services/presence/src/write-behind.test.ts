import type { Database } from '@natter/database';
import { createLogger } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { startWriteBehind } from './write-behind.ts';

/** A database that refuses writes until it recovers. Each write is a list of the values of its columns. */
function openDatabase() {
  const state = { isAway: true, attempts: 0, written: [] as unknown[][] };
  const database = {
    run: async ({ values }: { values: unknown[] }) => {
      state.attempts++;
      if (state.isAway) throw new Error('away');
      state.written.push(values);
      return 1;
    },
  } as unknown as Database;
  return { state, behind: startWriteBehind(database, createLogger('test', 'silent'), () => 1_000_000) };
}

test('inputs and states that Postgres refuses are written when it accepts them', async () => {
  const { state, behind } = openDatabase();
  behind.input(1, 7);
  behind.input(1, 7);
  behind.stored(1, { userId: 7, activeAt: 900, connectedAt: 900, updateId: 4 });
  await expect.poll(() => state.attempts).toBeGreaterThan(0);
  behind.input(1, 7);
  behind.input(1, 8);
  state.isAway = false;
  await behind.stop();
  const [presence, inputs] = state.written;
  expect(state.written).toHaveLength(2);
  expect(presence?.slice(0, 5)).toEqual([[1], [7], [900], [900], [4]]);
  expect(inputs).toEqual(
    [
      [1, 1],
      [7, 8],
      [3, 1],
    ].map((column) => expect.arrayContaining(column)),
  );
});

test('inputs that were written before a failure are not written again', async () => {
  const { state, behind } = openDatabase();
  state.isAway = false;
  behind.input(1, 7);
  await expect.poll(() => state.written.length).toBe(1);
  await behind.stop();
  expect(state.written).toHaveLength(1);
});
