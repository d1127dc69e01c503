import type pg from 'pg';
import { expect, test, vi } from 'vitest';
import { createBatcher } from './batcher.ts';
import { databaseOn } from './database.ts';
import { withDeadline } from './deadline.ts';

const failure = (code: string) => Object.assign(new Error(code), { code });
const client = {
  query: async () => ({ rows: [], rowCount: 0 }),
  getTransactionStatus: () => 'I',
  on: () => undefined,
  off: () => undefined,
  removeListener: () => undefined,
  release: () => undefined,
};

/** A database whose first connections fail with these codes. */
function databaseThat(codes: string[]) {
  const pool = {
    connect: async () => {
      const code = codes.shift();
      if (code !== undefined) throw failure(code);
      return client;
    },
  } as unknown as pg.Pool;
  return databaseOn({ pool, cancel: () => undefined }, 1);
}

test('work waits while PostgreSQL restarts or has no connection left', async () => {
  const codes = ['ECONNREFUSED', '57P03', '53300', 'ECONNRESET'];
  await databaseThat(codes).connect(({ query }) => query('SELECT 1'));
  expect(codes).toEqual([]);
});

test('work does not wait longer than its deadline', async () => {
  const database = databaseThat(Array.from({ length: 1_000 }, () => 'ECONNREFUSED'));
  const work = withDeadline(200, () => database.connect(({ query }) => query('SELECT 1')));
  await expect(work).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('a login with a wrong password is not retried', async () => {
  const codes = ['28P01', '28P01'];
  await expect(databaseThat(codes).connect(({ query }) => query('SELECT 1'))).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  expect(codes).toEqual(['28P01']);
});

/** Seconds until work fails that PostgreSQL serves never. */
async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  vi.useFakeTimers();
  try {
    const began = performance.now();
    const failed = expect(withDeadline(60_000, work)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await vi.advanceTimersByTimeAsync(20_000);
    await failed;
    return (endedAt - began) / 1_000;
  } finally {
    vi.useRealTimers();
  }
}
let endedAt = 0;
const ended = <R>(work: Promise<R>): Promise<R> =>
  work.finally(() => {
    endedAt = performance.now();
  });

const unreachable = () => databaseThat(Array.from({ length: 10_000 }, () => 'ECONNREFUSED'));

test('all attempts of a request together wait about five seconds for PostgreSQL', async () => {
  const database = unreachable();
  const once = () => ended(database.connect(({ query }) => query('SELECT 1')));
  expect(await secondsOf(once)).toBeCloseTo(5, 0);
  const thrice = () => once().catch(() => once().catch(once));
  expect(await secondsOf(thrice)).toBeCloseTo(5, 0);
});

test('a shared look-up does not wait longer than its first request', async () => {
  const ask = createBatcher((_: number[]) =>
    unreachable().connect(async ({ query }) => (await query('SELECT 1')).rows),
  );
  const late = async () => {
    await unreachable()
      .connect(({ query }) => query('SELECT 1'))
      .catch(() => undefined);
    return ended(ask(1));
  };
  expect(await secondsOf(late)).toBeCloseTo(5, 0);
});
