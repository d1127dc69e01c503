import { unavailable, userOperations } from '@natter/contracts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFailureLog } from './failure-log.ts';
import type { Logger } from './logging.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Logs an outage with this cause. Returns the failures that the line stands for; undefined if nothing is logged. */
function outages(): (cause: string) => number | undefined {
  const toChatError = createFailureLog();
  return (cause) => {
    let alike: number | undefined;
    const warn = (line: { alike: number }): void => {
      alike = line.alike;
    };
    toChatError(unavailable(new Error(cause)), userOperations.getRealmPolicy, () => ({ warn }) as unknown as Logger);
    return alike;
  };
}

test('alike failures of a second are one line, and the next line counts them', () => {
  const fail = outages();
  expect([fail('no connection'), fail('no connection'), fail('no connection')]).toEqual([0, undefined, undefined]);
  vi.advanceTimersByTime(1_000);
  expect(fail('no connection')).toBe(2);
});

test('a frequent failure is not logged again when there are many others', () => {
  const fail = outages();
  expect(fail('no connection')).toBe(0);
  for (let i = 0; i < 3_000; i++) {
    fail(`other ${i}`);
    if (i % 500 === 0) expect(fail('no connection')).toBeUndefined();
  }
  vi.advanceTimersByTime(1_000);
  expect(fail('no connection')).toBe(6);
});
