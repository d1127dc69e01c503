import { expect, test } from 'vitest';
import { cut, shortName } from './text.ts';

test.each([
  ['abc', 5, 'abc'],
  ['abc', 2, 'ab'],
  ['ab😀', 3, 'ab'],
  ['ab😀', 4, 'ab😀'],
  ['😀😀', 1, ''],
])('%j cut to %i units is %j', (text, maxUnits, expected) => {
  expect(cut(text, maxUnits)).toBe(expected);
});

test('a short name has no control characters and no surrounding whitespace', () => {
  expect(shortName(' a\0b\r\n\u0085c\t', 10)).toBe('abc');
  expect(shortName(`${'a'.repeat(9)}😀`, 10)).toBe('a'.repeat(9));
});
