import { expect, test } from 'vitest';
import { portions } from './grouped.ts';

test('portions weigh at most what is given, unless one item is heavier', () => {
  const divide = (items: number[]) => portions(items, 10, (item) => item);
  expect(divide([4, 6, 1, 12, 2, 8, 1])).toEqual([[4, 6], [1], [12], [2, 8], [1]]);
  expect(divide([])).toEqual([]);
});
