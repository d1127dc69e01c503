import { expect, test } from 'vitest';
import { Counts } from './counts.ts';

test('each key has its own count, which begins at 0', () => {
  const counts = new Counts<string>();
  counts.add('a');
  counts.add('a', 2);
  counts.add('b');
  expect(['a', 'b', 'c'].map((key) => counts.of(key))).toEqual([3, 1, 0]);
  expect([...counts]).toEqual([
    ['a', 3],
    ['b', 1],
  ]);
});

test('a key whose count returns to 0 is not stored', () => {
  const counts = new Counts<string>();
  counts.add('a');
  counts.add('b');
  counts.add('a', -1);
  expect(counts.of('a')).toBe(0);
  expect(counts.size).toBe(1);
  counts.add('b', -2);
  expect(counts.of('b')).toBe(0);
  expect(counts.size).toBe(0);
});
