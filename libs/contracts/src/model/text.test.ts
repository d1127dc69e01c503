import { expect, test } from 'vitest';
import { cut, isVisible, shortName } from './text.ts';

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

test('a name of spaces and characters that nobody sees is not visible', () => {
  for (const name of [
    '',
    ' ',
    '\u3164\u3164',
    '\u2800',
    '\u200b\u200b',
    '\u115f\u1160',
    '\u202e',
    '\ufe0f',
    '\u{e0041}',
    '\u0301',
  ])
    expect([name, isVisible(name)]).toEqual([name, false]);
  for (const name of ['a', '-', '❤️', 'é', '\u200bA', '名', '👩‍🚀', '１'])
    expect([name, isVisible(name)]).toEqual([name, true]);
});
