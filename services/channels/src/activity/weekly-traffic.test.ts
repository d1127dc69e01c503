import { expect, test } from 'vitest';
import { weeklyTraffic } from './weekly-traffic.ts';

test.each([
  ['a channel younger than a week has no figure', 500, 6, null],
  ['the traffic of a young channel is averaged over its life', 100, 14, 50],
  ['the traffic of an older channel is averaged over four weeks', 100, 400, 25],
  ['the figure is rounded to two significant digits', 5_000, 28, 1_300],
  ['a channel with a message has a figure of at least 1', 2, 28, 1],
  ['a channel without messages has the figure 0', 0, 28, 0],
])('%s', (_, messages, age, expected) => {
  expect(weeklyTraffic(messages, age)).toBe(expected);
});
