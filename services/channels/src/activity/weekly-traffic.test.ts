import { expect, test } from 'vitest';
import { weeklyTraffic } from './weekly-traffic.ts';

test.each([
  ['a channel of less than a week has none', 500, 6, null],
  ['a young channel is averaged over its life', 100, 14, 50],
  ['an older one over four weeks', 100, 400, 25],
  ['two digits are significant', 5_000, 28, 1_300],
  ['some messages are never none', 2, 28, 1],
  ['no messages are none', 0, 28, 0],
])('%s', (_, messages, age, expected) => {
  expect(weeklyTraffic(messages, age)).toBe(expected);
});
