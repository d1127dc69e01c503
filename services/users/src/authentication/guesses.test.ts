import { expect, test } from 'vitest';
import { hashOf, waitAfter } from './guesses.ts';

test('the wait after wrong guesses begins with the last free one, doubles, and has an end', () => {
  expect([1, 4, 5, 6, 7, 10, 11, 1_000].map((wrong) => waitAfter(wrong, 5))).toEqual([
    0, 0, 30, 60, 120, 960, 1_800, 1_800,
  ]);
});

test('one name in several spellings is guessed at as one', () => {
  const same = [
    'ann@example.com',
    ' Ann@Example.com\t',
    '\u00a0ANN@EXAMPLE.COM',
    'ann@example.ｃｏｍ',
    'ann@example.com\n',
  ];
  expect(new Set(same.map(hashOf)).size).toBe(1);
  expect(hashOf('bob@example.com')).not.toBe(hashOf('ann@example.com'));
  expect(hashOf('x'.repeat(1_000_000))).toHaveLength(22);
});
