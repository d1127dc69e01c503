import { expect, test } from 'vitest';
import { choicesAt, dueOf, localInput } from './due.ts';

test('a time is read in the zone in which it is shown', () => {
  const now = new Date(2026, 10, 23, 7, 5);
  expect(localInput(now)).toBe('2026-11-23T07:05');
  expect(dueOf('2026-11-23T07:06', now.getTime())).toBe(now.getTime() / 1_000 + 60);
});

test.each(['', 'soon', '2026-11-23T07:05', '2020-01-01T00:00'])('%j is not a future time', (input) => {
  expect(dueOf(input, new Date(2026, 10, 23, 7, 5).getTime())).toBeUndefined();
});

test('only future times are offered', () => {
  const names = (now: Date) => choicesAt(now).map(({ name }) => name);
  // A Monday.
  expect(names(new Date(2026, 10, 23, 7))).toEqual([
    'In one hour',
    'This afternoon',
    'Tomorrow morning',
    'Monday morning',
  ]);
  expect(names(new Date(2026, 10, 23, 20))).not.toContain('This afternoon');
  expect(choicesAt(new Date(2026, 10, 23, 7)).at(-1)?.at).toEqual(new Date(2026, 10, 30, 9));
});
