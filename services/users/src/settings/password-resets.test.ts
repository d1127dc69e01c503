import { expect, test } from 'vitest';
import { gapAfter } from './password-resets.ts';

test('mails to one address come at growing distances: few a day, and never none for long', () => {
  expect([0, 2, 3, 4, 5, 6, 7, 8, 1_000].map(gapAfter)).toEqual([
    0, 0, 900, 1_800, 3_600, 7_200, 14_400, 14_400, 14_400,
  ]);
  let mailed = 0;
  for (let second = 0; second < 86_400; second += gapAfter(mailed)) mailed++;
  expect(mailed).toBeLessThanOrEqual(12);
});
