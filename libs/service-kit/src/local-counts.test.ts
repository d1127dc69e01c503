import { expect, test } from 'vitest';
import { createLocalCounts } from './local-counts.ts';

test('counts add up until they expire, and never exceed their space', () => {
  let now = Date.now();
  const counts = createLocalCounts(3, () => now);
  expect([counts.add('a', 2, 60), counts.add('a', 3, 60), counts.get('a'), counts.left('a')]).toEqual([2, 5, 5, 60]);
  expect([counts.add('gone', 1, 0), counts.get('gone'), counts.add('gone', 1, 0)]).toEqual([1, 0, 1]);
  now += 1_001;
  expect(counts.left('a')).toBe(59);
  now += 59_000;
  expect([counts.get('a'), counts.left('a'), counts.add('a', 1, 60)]).toEqual([0, 0, 1]);
  counts.raise('a', 5, 1);
  counts.raise('a', 4, 1);
  counts.raise('nothing', 0, 60);
  expect([counts.get('a'), counts.left('a'), counts.get('nothing')]).toEqual([5, 60, 0]);
  counts.drop('a');
  expect(counts.get('a')).toBe(0);
  for (const key of ['b', 'c', 'd', 'e']) counts.add(key, 1, 60);
  expect(['b', 'c', 'd', 'e'].filter((key) => counts.get(key) > 0)).toEqual(['c', 'd', 'e']);
});
