import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRealmHints } from './realm-hints.ts';

const [gatherMs, pollMs] = [100, 1_000];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The time after which a wait ends in which `during` happens at once. */
async function waitedMs(restMs: number | undefined, during: (hints: ReturnType<typeof createRealmHints>) => void) {
  const hints = createRealmHints(gatherMs, pollMs);
  let isOver = false;
  const waiting = hints.wait(restMs).then(() => {
    isOver = true;
  });
  during(hints);
  let ms = 0;
  for (; !isOver && ms < 2 * pollMs; ms += 10) await vi.advanceTimersByTimeAsync(10);
  await waiting;
  return ms;
}

test('hints are gathered for the usual time after a short round, and for the length of the pause after a long one', async () => {
  expect(await waitedMs(undefined, (hints) => hints.hint(1))).toBe(gatherMs);
  expect(await waitedMs(40, (hints) => hints.hint(1))).toBe(gatherMs);
  expect(await waitedMs(400, (hints) => hints.hint(1))).toBe(400);
  expect(await waitedMs(60_000, (hints) => hints.hint(1))).toBe(pollMs);
});

test('a waiting request ends the pause', async () => {
  const both = (hints: ReturnType<typeof createRealmHints>) => {
    hints.hint(1);
    hints.hint(2, true);
  };
  expect(await waitedMs(400, both)).toBe(10);
});
