import { expect, test } from 'vitest';
import { placesOf } from './alert-marks.ts';

const marked = (text: string, ...words: string[]): string[] =>
  placesOf(text, words).map(([from, to]) => text.slice(from, to));

test('alert words are found as separate words, in any case', () => {
  expect(marked('Deploy! A redeploy is no DEPLOY.', 'deploy')).toEqual(['Deploy', 'DEPLOY']);
  expect(marked('outage_2, outages and Überoutage', 'outage')).toEqual([]);
  expect(marked('a.b (c++) d', 'c++', 'a.b', '')).toEqual(['a.b', 'c++']);
  expect(marked('İİ test', 'TEST')).toEqual(['test']);
});

test('of alert words that overlap, the longest one is marked', () => {
  expect(marked('the data base is down', 'data', 'data base', 'base is')).toEqual(['data base']);
});
