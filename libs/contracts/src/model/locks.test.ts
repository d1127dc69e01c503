import { expect, test } from 'vitest';
import { lockNames, lockOf } from './locks.ts';

test('advisory locks have distinct numbers', () => {
  const numbers = lockNames.map((name) => lockOf(name).number);
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
});

test('a former number belongs to one lock, and differs from the current number of that lock', () => {
  for (const name of lockNames) {
    const { formerly, number } = lockOf(name);
    if (formerly === undefined) continue;
    expect(formerly, name).not.toBe(number);
    expect(lockNames.filter((other) => lockOf(other).formerly === formerly)).toEqual([name]);
  }
});
