import type pg from 'pg';
import { expect, test, vi } from 'vitest';
import { createBatcher } from './batcher.ts';
import { databaseOn } from './database.ts';
import { withDeadline } from './deadline.ts';
import { createPatience } from './patience.ts';
import { isTransient } from './prepared.ts';
import { isConnectionFailure } from './sql-state.ts';

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

test('work waits while PostgreSQL refuses its login', async () => {
  const codes = ['28P01', '28000', '55000', '3D000'];
  await databaseThat(codes).connect(({ query }) => query('SELECT 1'));
  expect(codes).toEqual([]);
});

/** A database with one open connection, which is idle or not, and whose server refuses every login. */
function databaseWithoutLogins() {
  let idle = 1;
  let logins = 0;
  const connect = async () => {
    if (idle === 0) {
      logins++;
      throw failure('28P01');
    }
    idle--;
    return { ...client, release: () => void idle++ };
  };
  const pool = {
    connect,
    get idleCount() {
      return idle;
    },
  } as unknown as pg.Pool;
  return { database: databaseOn({ pool, cancel: () => undefined }, 10), logins: () => logins };
}

test('work whose login is refused uses the connection of others as soon as it is given back', async () => {
  const { database, logins } = databaseWithoutLogins();
  const hold = (ms: number) => database.connect(() => new Promise((resolve) => setTimeout(resolve, ms)));
  const began = performance.now();
  await withDeadline(60_000, () => Promise.all([hold(20), ...Array.from({ length: 8 }, () => hold(5))]));
  expect(performance.now() - began).toBeLessThan(180);
  expect(logins()).toBe(8);
});

test('work that has waited for PostgreSQL before waits for the connection of others too', async () => {
  const { database } = databaseWithoutLogins();
  const patience = createPatience(0);
  patience.remainingMs();
  const held = database.connect(() => new Promise((resolve) => setTimeout(resolve, 300)));
  await withDeadline(60_000, () => database.connect(({ query }) => query('SELECT 1')), patience);
  await held;
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

test('work fails as in an outage if its login is refused for five seconds', async () => {
  const database = databaseThat(Array.from({ length: 10_000 }, () => '28P01'));
  let cause: unknown;
  const work = () =>
    ended(database.connect(({ query }) => query('SELECT 1'))).catch((error) => {
      cause = error.cause;
      throw error;
    });
  expect(await secondsOf(work)).toBeCloseTo(5, 0);
  expect([isConnectionFailure(cause), String(cause)]).toEqual([true, 'RefusedLogin: 28P01']);
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
