import type { Database } from '@natter/database';
import { expect, test, vi } from 'vitest';
import { alertedIn, separateWordsOf } from './alerts.ts';

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

test('the number of characters compared for one text is limited', () => {
  const occurs = separateWordsOf('a!'.repeat(5_000));
  const words = Array.from({ length: 10_000 }, (_, index) => `${'a!'.repeat(45)}${index}`);
  expect(words.filter(occurs)).toEqual([]);
  // The limit is reached, so that not even a word that occurs is found.
  expect(occurs('a!a')).toBe(false);
  expect(separateWordsOf('a!'.repeat(5_000))('a!a')).toBe(true);
});

test('long words that nearly occur at every place are compared at few of them', () => {
  const occurs = separateWordsOf('a '.repeat(5_000));
  const words = Array.from({ length: 655 }, (_, index) => `${'a '.repeat(48)}${String(index).padStart(4, 'x')}`);
  const startsWith = vi.spyOn(String.prototype, 'startsWith');
  const found = words.filter(occurs);
  const compared = startsWith.mock.calls.length;
  startsWith.mockRestore();
  expect(found).toEqual([]);
  expect(compared).toBeLessThanOrEqual(100_000);
});

test('a thousand short words are compared at each of a hundred places', () => {
  const occurs = separateWordsOf(`${'the cat '.repeat(100)} the dog`);
  expect(Array.from({ length: 1_000 }, (_, index) => `the ${index}`).filter(occurs)).toEqual([]);
  expect(occurs('the dog')).toBe(true);
});

/** Different words without letters. */
const signs = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, index) => `${'!'.repeat(45)}${index.toString(2).replaceAll('0', '!').replaceAll('1', '?')}`,
  );

test('the number of characters compared with words without letters is limited too', () => {
  const text = `${'!a'.repeat(5_000)} !!!`;
  const occurs = separateWordsOf(text);
  expect(signs(1_000).filter(occurs)).toEqual([]);
  expect(occurs('!!!')).toBe(false);
  expect(separateWordsOf(text)('!!!')).toBe(true);
});

const noDatabase = {} as Database;

test('a word that many users have is compared once', async () => {
  const indexOf = vi.spyOn(String.prototype, 'indexOf');
  const rows = Array.from({ length: 199 }, (_, user_id) => ({ user_id, word: '!' }));
  await expect(alertedIn(noDatabase, { realmId: 1, content: '!a'.repeat(5_000) }, rows)).resolves.toEqual([]);
  const compared = indexOf.mock.calls.filter(([word]) => word === '!').length;
  indexOf.mockRestore();
  expect(compared).toBe(5_001);
  const found = await alertedIn(noDatabase, { realmId: 1, content: 'a !' }, rows.slice(0, 3));
  expect(found).toEqual([0, 1, 2]);
});

test('a long comparison with few words lets other requests run', async () => {
  let turns = 0;
  const count = (): void => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const rows = Array.from({ length: 199 }, (_, user_id) => ({ user_id, word: `${'a!'.repeat(45)}${user_id}` }));
  await alertedIn(noDatabase, { realmId: 1, content: 'a!'.repeat(5_000) }, rows);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(1);
});
