import { expect, test } from 'vitest';
import { createBatchLimits } from './batch-limits.ts';

test('a transaction that ended early limits the next one, and the limit doubles afterwards', () => {
  const limits = createBatchLimits(10);
  expect(limits.of(1)).toBe(10);
  limits.ended(1, 2);
  expect([limits.of(1), limits.of(2)]).toEqual([4, 10]);
  limits.ended(1, 0);
  expect(limits.of(1)).toBe(1);
  const grown = [1, 2, 3, 4].map(() => {
    limits.ended(1, undefined);
    return limits.of(1);
  });
  expect(grown).toEqual([2, 4, 8, 10]);
});
