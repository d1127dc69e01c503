import { ChatError, unavailable } from '@natter/contracts';
import { withDeadline } from '@natter/database';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRecovery } from './recovery.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const failure = (code: string): Error => Object.assign(new Error(`error ${code}`), { code });
const tenant = { realmId: 1, userId: 7 };

/** PostgreSQL that fails all work with an error until it is given none. */
function failing(error: Error) {
  const state = { error: error as Error | undefined, attempts: 0 };
  const work = async (): Promise<string> => {
    state.attempts++;
    if (state.error) throw state.error;
    return 'done';
  };
  return { state, work };
}

test.each(['25006', '53100', '53200', '53300'])('work that PostgreSQL refuses with %s is done later', async (code) => {
  const { state, work } = failing(failure(code));
  const result = createRecovery().run(work, { tenant, outcome: 'unknown' });
  await vi.advanceTimersByTimeAsync(4_000);
  state.error = undefined;
  await vi.advanceTimersByTimeAsync(200);
  expect(await result).toBe('done');
});

test('work whose connection broke is retried only if a commit would be detected', async () => {
  const broken = unavailable(new Error('Connection terminated unexpectedly'));
  const { state, work } = failing(broken);
  await expect(createRecovery().run(work, { tenant, outcome: 'unknown' })).rejects.toBe(broken);
  expect(state.attempts).toBe(1);
  const result = createRecovery().run(work, { tenant, outcome: 'known' });
  state.error = undefined;
  await vi.advanceTimersByTimeAsync(200);
  expect(await result).toBe('done');
});

test('work fails with its own error when the outage is too long', async () => {
  const error = failure('25006');
  const { work } = failing(error);
  const failed = expect(createRecovery().run(work, { tenant, outcome: 'known' })).rejects.toBe(error);
  await vi.advanceTimersByTimeAsync(5_500);
  await failed;
});

test('other errors are not retried', async () => {
  for (const error of [new ChatError('BAD_REQUEST', 'no'), failure('23505'), unavailable(new Error('too busy'))]) {
    const { state, work } = failing(error);
    await expect(createRecovery().run(work, { tenant, outcome: 'known' })).rejects.toBe(error);
    expect(state.attempts).toBe(1);
  }
});

test('a thousand waiting requests cost a few attempts, and all complete afterwards', async () => {
  const { state, work } = failing(failure('25006'));
  const recovery = createRecovery();
  const results = Array.from({ length: 1_000 }, () => recovery.run(work, { tenant, outcome: 'known' }));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(state.attempts).toBeGreaterThan(1_020);
  expect(state.attempts).toBeLessThan(1_070);
  state.error = undefined;
  await vi.advanceTimersByTimeAsync(200);
  expect(new Set(await Promise.all(results))).toEqual(new Set(['done']));
});

test('waiting requests of one realm leave room for other realms, and fail at once if they find none', async () => {
  const error = failure('53100');
  const { state, work } = failing(error);
  const recovery = createRecovery();
  const run = (realmId: number) => recovery.run(work, { tenant: { realmId, userId: 7 }, outcome: 'known' });
  const outcomes = Promise.allSettled(Array.from({ length: 1_500 }, () => run(1)));
  const other = run(2);
  await vi.advanceTimersByTimeAsync(1_000);
  state.error = undefined;
  await vi.advanceTimersByTimeAsync(200);
  expect(await other).toBe('done');
  const refused = (await outcomes).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(500);
});

test('a connection that breaks late does not start the wait again', async () => {
  const broken = unavailable(new Error('Connection terminated unexpectedly'));
  const began = performance.now();
  let attempts = 0;
  /** PostgreSQL breaks each connection after three seconds. */
  const work = async (): Promise<void> => {
    attempts++;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    throw broken;
  };
  const failed = expect(
    withDeadline(60_000, () => createRecovery().run(work, { tenant, outcome: 'known' })),
  ).rejects.toBe(broken);
  let endedAt = 0;
  void failed.then(() => {
    endedAt = performance.now();
  });
  await vi.advanceTimersByTimeAsync(30_000);
  await failed;
  // The first failure is at 3 s, so that the last attempt starts before 8 s.
  expect(attempts).toBe(3);
  expect(endedAt - began).toBeLessThan(10_000);
});
