import type pg from 'pg';
import { expect, test, vi } from 'vitest';
import { createBatcher } from './batcher.ts';
import { databaseOn } from './database.ts';
import { withDeadline } from './deadline.ts';
import { isTransient } from './prepared.ts';

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

test('a commit whose wait for a standby was cancelled has an unknown outcome, whatever PostgreSQL answered', async () => {
  const listeners = new Map<string, (notice: object) => void>();
  const unconfirmed = {
    ...client,
    on: (event: string, listener: (notice: object) => void) => listeners.set(event, listener),
    query: async () => {
      listeners.get('notice')?.({ routine: 'SyncRepWaitForLSN', severity: 'WARNING' });
      return client.query();
    },
  };
  const pool = { connect: async () => unconfirmed } as unknown as pg.Pool;
  const work = databaseOn({ pool, cancel: () => undefined }, 1).connect(({ query }) => query('INSERT'));
  await expect(work).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', cause: { code: '08007' } });
});

/** The code of the error with which work ends whose commit PostgreSQL refuses as too late after this time. */
async function codeOfRefusedCommit(afterMs: number, deadlineMs: number): Promise<string> {
  const refusing = {
    ...client,
    query: () => new Promise((_, reject) => setTimeout(() => reject(failure('NT408')), afterMs)),
  };
  const pool = { connect: async () => refusing } as unknown as pg.Pool;
  const database = databaseOn({ pool, cancel: () => undefined }, 1);
  const work = withDeadline(deadlineMs, () => database.connect(({ query }) => query('COMMIT')));
  return work.then(
    () => '',
    (error) => error.code,
  );
}

test('a commit that PostgreSQL refuses as too late is repeated if only its clock was set forward', async () => {
  expect(isTransient(failure('NT408'))).toBe(true);
  expect(await codeOfRefusedCommit(0, 60_000)).toBe('NT408');
  expect(await codeOfRefusedCommit(60, 30)).toBe('SERVICE_UNAVAILABLE');
});
