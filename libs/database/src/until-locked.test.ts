import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Changing, untilAlone, untilIndexed, untilLocked } from './until-locked.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A table that a dump reads until `freeAt`, and a session that changes it. */
function dumpedTable(freeAt: number) {
  const began = performance.now();
  const seen = { waitedMs: 0, longestWaitMs: 0, lines: [] as string[] };
  let lockMs = 0;
  const answer = async (text: string): Promise<object> => {
    const timeout = /SET lock_timeout = '(\d+)ms'/.exec(text)?.[1];
    if (timeout) lockMs = Number(timeout);
    if (text.includes('pg_backend_pid')) return { rows: [{ pid: 7 }] };
    if (text.includes('pg_blocking_pids')) return { rows: [{ holders: 'pg_dump (process 9)' }] };
    if (text !== 'ALTER' || performance.now() - began >= freeAt) return { rows: [] };
    await pause(lockMs);
    seen.waitedMs += lockMs;
    throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
  };
  const session = { query: answer, end: async () => undefined };
  const changing = { client: session, connect: async () => session, log: (line: string) => seen.lines.push(line) };
  return { seen, change: () => untilLocked(changing as unknown as Changing, '074-new.sql', 'ALTER') };
}

test('a change that waits for a dump blocks the table for a small part of the time, and names who holds it', async () => {
  const { seen, change } = dumpedTable(420_000);
  const done = change();
  await vi.advanceTimersByTimeAsync(480_000);
  await done;
  expect(seen.waitedMs / 420_000).toBeLessThan(0.1);
  expect(seen.lines).toEqual([
    '074-new.sql waits for a lock that others hold',
    '074-new.sql waits for a lock that others hold: pg_dump (process 9)',
  ]);
});

test('a change that gets no lock for ten minutes fails', async () => {
  const { change } = dumpedTable(Number.POSITIVE_INFINITY);
  const failed = expect(change()).rejects.toMatchObject({ code: '55P03' });
  await vi.advanceTimersByTimeAsync(660_000);
  await failed;
});

test('an index that waits for transactions of others for ten minutes fails, and the error names them', async () => {
  let lockMs = 0;
  const lines: string[] = [];
  const query = async (text: string): Promise<object> => {
    lockMs = Number(/SET lock_timeout = '(\d+)ms'/.exec(text)?.[1] ?? lockMs);
    if (text.includes('pg_blocking_pids')) return { rows: [{ holders: 'pg_dump (process 9)' }] };
    if (text !== 'BUILD') return { rows: [], rowCount: 0 };
    await pause(lockMs);
    throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
  };
  const session = { query, end: async () => undefined };
  const changing = { client: session, connect: async () => session, log: (line: string) => lines.push(line) };
  const index = { index: 'messaging.found', text: 'BUILD' };
  const done = untilIndexed(changing as unknown as Changing, '087-new.sql', index);
  const failed = expect(done).rejects.toThrow(
    '087-new.sql waited too long for transactions of others: pg_dump (process 9).',
  );
  await vi.advanceTimersByTimeAsync(610_000);
  await failed;
  expect([lockMs, lines]).toEqual([
    600_000,
    ['087-new.sql waits until transactions of others end: pg_dump (process 9)'],
  ]);
});

test('a runner waits until another run of the migrations has ended, and names it', async () => {
  let isHeld = true;
  const client = {
    query: async (text: string) =>
      text.includes('is_mine')
        ? { rows: [{ is_mine: !isHeld }] }
        : { rows: [{ holders: 'natter-migrate (process 3)' }] },
  };
  const lines: string[] = [];
  let isDone = false;
  const changing = { client, log: (line: string) => lines.push(line) };
  const alone = untilAlone(changing as unknown as Changing).then(() => {
    isDone = true;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect([isDone, lines]).toEqual([
    false,
    ['waits until another run of the migrations ends: natter-migrate (process 3)'],
  ]);
  isHeld = false;
  await vi.advanceTimersByTimeAsync(2_000);
  await alone;
});
