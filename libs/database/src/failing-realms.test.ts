import { expect, test } from 'vitest';
import { createFailingRealms } from './failing-realms.ts';

test('a realm that was deleted while a consumer failed in it no longer counts as failing after some attempts', () => {
  const failing = createFailingRealms();
  failing.failed(1, 7, new Error('no such channel'));
  for (let attempt = 0; attempt < 4; attempt++) expect(failing.unclaimed(1)).toBeGreaterThan(0);
  expect(failing.has(1)).toBe(true);
  expect(failing.unclaimed(1)).toBeUndefined();
  expect([failing.has(1), failing.longestSeconds()]).toEqual([false, 0]);
});

test('a realm that another process claims for a moment still counts as failing', () => {
  const failing = createFailingRealms();
  for (let round = 0; round < 10; round++) {
    failing.failed(1, 7, new Error('no such channel'));
    expect(failing.unclaimed(1)).toBeGreaterThan(0);
  }
  expect(failing.has(1)).toBe(true);
});
