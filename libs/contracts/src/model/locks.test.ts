import { expect, test } from 'vitest';
import { lockNames, lockOf } from './locks.ts';

test('no two advisory locks have the same number', () => {
  const numbers = lockNames.map((name) => lockOf(name).number);
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
});

test('a number that a lock had before is locked alone by at most one other lock, which users of the old number exclude', () => {
  for (const name of lockNames) {
    const { formerly, number } = lockOf(name);
    if (formerly === undefined) continue;
    expect(formerly, name).not.toBe(number);
    expect(lockNames.filter((other) => lockOf(other).formerly === formerly)).toEqual([name]);
  }
});
