import type { Consumer, Database } from '@natter/database';
import { expect, test, vi } from 'vitest';
import { createCatchUp } from './catch-up.ts';

/** A database whose queries end when the test calls `end`. */
function heldDatabase() {
  const queries: { realmId: number; end: () => void }[] = [];
  const one = ({ values }: { values: readonly unknown[] }): Promise<unknown> =>
    new Promise((resolve) => {
      const realmId = values.find((value) => typeof value === 'number') as number;
      queries.push({ realmId, end: () => resolve({ number: 5, found: false, versions: { realm: realmId } }) });
    });
  return { database: { one } as unknown as Database, queries };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test('no realm waits for the query of another one', async () => {
  const { database, queries } = heldDatabase();
  const catchUp = createCatchUp(database, 'messaging', () => []);
  const slow = catchUp(1);
  const quick = catchUp(2);
  await turn();
  queries.find(({ realmId }) => realmId === 2)?.end();
  expect(await quick).toMatchObject({ realmVersion: 2, isComplete: true });
  const later = catchUp(2);
  await turn();
  queries.at(-1)?.end();
  expect(await later).toMatchObject({ realmVersion: 2 });
  queries.find(({ realmId }) => realmId === 1)?.end();
  expect(await slow).toMatchObject({ realmVersion: 1 });
});

test('concurrent requests of a realm share a query, which begins after them', async () => {
  const { database, queries } = heldDatabase();
  const catchUp = createCatchUp(database, 'messaging', () => []);
  const first = [catchUp(1), catchUp(1, { 'actor:7': 3 })];
  await turn();
  const second = [catchUp(1), catchUp(1)];
  await turn();
  expect(queries.length).toBe(1);
  queries[0]?.end();
  await Promise.all(first);
  await turn();
  expect(queries.length).toBe(2);
  queries[1]?.end();
  await Promise.all(second);
});

test('a call gives up after its own longest wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] });
  try {
    const seen = { number: 5, found: true, versions: {}, behind: ['late'] };
    const database = { one: async () => seen } as unknown as Database;
    const late = { name: 'late', types: ['message'], through: () => 4, hint: () => undefined } as unknown as Consumer;
    const waited: (boolean | undefined)[] = [undefined, undefined];
    for (const [index, waitMs] of [500, undefined].entries())
      void createCatchUp(
        database,
        'users',
        () => [late],
        waitMs,
      )(1).then(({ isComplete }) => {
        waited[index] = isComplete;
      });
    await vi.advanceTimersByTimeAsync(400);
    expect(waited).toEqual([undefined, undefined]);
    await vi.advanceTimersByTimeAsync(200);
    expect(waited).toEqual([false, undefined]);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(waited).toEqual([false, false]);
  } finally {
    vi.useRealTimers();
  }
});
