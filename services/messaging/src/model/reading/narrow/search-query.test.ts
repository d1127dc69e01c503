import { expect, test } from 'vitest';
import { allOf, phrasesOf, termsOf } from './search-query.ts';

test.each([
  ['tea or coffee', ['tea', 'coffee']],
  ['OR tea', ['tea']],
  ['-tea orchid', ['tea', 'orchid']],
  ['"tea or -coffee" milk', ['tea or -coffee', 'milk']],
  ['tea "milk', ['tea', 'milk']],
  ['"a" or "b"', ['a', 'b']],
  ['tea tea\u3000tea', ['tea']],
  ['app.log foo_bar', ['app.log', 'foo_bar']],
  ['... "!" - \u0301 🎉', []],
])('%j is searched as %j', (text, expected) => {
  expect(termsOf(text)).toEqual(expected);
});

test('several searches are combined into one that requires all of them', () => {
  const one = { query: "'a' | 'b'", text: 'a' };
  expect(allOf([one, { query: "'c'", text: 'c' }])).toEqual({ query: "('a' | 'b') & ('c')", text: 'a c' });
  expect(allOf([])).toBeUndefined();
});

test('each phrase of a search is compared once', () => {
  expect(phrasesOf('"Tea time" "Tea time " "x""x" " " milk "')).toEqual(['Tea time', 'x']);
});
