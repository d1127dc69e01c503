import { expect, test } from 'vitest';
import { separateWordsOf } from './alerts.ts';

test.each([
  ['The release is out.', 'release', true],
  ['The Releases are out.', 'release', false],
  ['a RELEASE!', 'release', true],
  ['prerelease', 'release', false],
  ['first the cat, then the cats', 'the cats', true],
  ['c++ and c#', 'c++', true],
  ['c++x', 'c++', false],
  ['so :-) good', ':-)', true],
  ['a:-)b', ':-)', false],
  ['release', '#release', false],
  ['a #release', '#release', true],
  ['x_release', 'release', false],
  ['東京 大阪', '大阪', true],
])('%j contains %j on its own: %s', (text, word, occurs) => {
  expect(separateWordsOf(text)(word)).toBe(occurs);
});

test('the characters that are compared for one text are limited', () => {
  const occurs = separateWordsOf('a!'.repeat(5_000));
  const words = Array.from({ length: 10_000 }, (_, index) => `${'a!'.repeat(45)}${index}`);
  expect(words.filter(occurs)).toEqual([]);
  // The limit is reached, so that not even a word that occurs is found.
  expect(occurs('a!a')).toBe(false);
  expect(separateWordsOf('a!'.repeat(5_000))('a!a')).toBe(true);
});
