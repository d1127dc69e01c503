import { expect, test } from 'vitest';
import { cut, holdsText, isStorable, isStorableJson, isVisible, shortName } from './text.ts';

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

test('a name of only spaces and invisible characters is not visible', () => {
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

test.each([
  ['a', true],
  ['\u{1f600}', true],
  ['\\ud800 and \\u0000 as text', true],
  ['\\\\ud800', true],
  ['a\0', false],
  ['a\ud800b', false],
  ['\udc00', false],
  ['\\\ud800', false],
  ['\ude00\ud83d', false],
])('whether %j can be stored is the same for the text, a value with it, and its JSON', (text, expected) => {
  expect(isStorable(text)).toBe(expected);
  for (const value of [[text], { a: [{ b: text }] }, { [text]: 1 }])
    expect([!holdsText(value, (one) => !isStorable(one)), isStorableJson(JSON.stringify(value))]).toEqual([
      expected,
      expected,
    ]);
});
