import { expect, test } from 'vitest';
import { charactersLeft } from './compose-warnings.ts';

test('the characters that may follow are counted as the server counts them', () => {
  expect(charactersLeft('', 10)).toBe(10);
  expect(charactersLeft('12345678', 10)).toBe(2);
  expect(charactersLeft('123456789012', 10)).toBe(-2);
  // A character of two units, and spaces that are not sent.
  expect(charactersLeft('😀😀😀😀😀😀😀😀', 10)).toBe(2);
  expect(charactersLeft('1234567890 \n', 10)).toBe(0);
});
