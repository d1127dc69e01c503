import { expect, test } from 'vitest';
import { edit, takesFocus } from './editing.ts';

test('a text box takes the focus once for each edit', () => {
  edit(1);
  expect([takesFocus(2), takesFocus(1), takesFocus(1)]).toEqual([false, true, false]);
  // A key that starts the same edit again.
  edit(1);
  expect(takesFocus(1)).toBe(false);
  edit(2);
  edit(1);
  expect(takesFocus(1)).toBe(true);
  edit(undefined);
  expect(takesFocus(1)).toBe(false);
});
