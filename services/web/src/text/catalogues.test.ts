import { expect, test } from 'vitest';
import { localeOf, preferredLanguage } from './choice.ts';
import { languageCodes, languageOf, languages } from './languages.ts';
import { listText, t } from './text.ts';

type Entry = string | Record<string, string>;

const load = async (code: (typeof languageCodes)[number]): Promise<[string, Entry][]> =>
  Object.entries((await languages[code].load()).texts);

const placeholders = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].sort();
const longest = (entry: Entry): string => (typeof entry === 'string' ? entry : (entry.other ?? ''));

test('every language has all keys, with the placeholders of English', async () => {
  const shape = async (code: (typeof languageCodes)[number]) =>
    Object.fromEntries((await load(code)).map(([key, entry]) => [key, placeholders(longest(entry))]));
  const english = await shape('en');
  expect(Object.keys(english).length).toBeGreaterThan(500);
  for (const code of languageCodes) expect([code, await shape(code)]).toEqual([code, english]);
});

test('a text with a count has the plural categories of its language, and no text is empty', async () => {
  for (const code of languageCodes) {
    const categories = new Intl.PluralRules(code).resolvedOptions().pluralCategories.toSorted();
    for (const [key, entry] of await load(code)) {
      const forms = typeof entry === 'string' ? [entry] : Object.values(entry);
      expect([code, key, forms.filter((form) => form.trim() === '')]).toEqual([code, key, []]);
      if (typeof entry === 'string') continue;
      expect([code, key, Object.keys(entry).toSorted()]).toEqual([code, key, categories]);
      for (const form of forms)
        expect(placeholders(longest(entry)), `${code} ${key}`).toEqual(expect.arrayContaining(placeholders(form)));
    }
  }
});

test('placeholders are filled, numbers have separators, and a count chooses the form', () => {
  expect(t('detailsOf', { name: '{name} $&' })).toBe('Details of {name} $&');
  expect([1, 2, 1_200].map((count) => t('days', { count }))).toEqual(['1 day', '2 days', '1,200 days']);
  expect(listText(['Ada', 'Ben', 'Cy'])).toBe('Ada, Ben, and Cy');
});

test('a wrong key, a missing value and a wrong placeholder do not compile', () => {
  // @ts-expect-error
  const misspelled = (): string => t('detailsOff');
  // @ts-expect-error
  const missing = (): string => t('detailsOf');
  // @ts-expect-error
  const wrong = (): string => t('detailsOf', { nam: 'x' });
  // @ts-expect-error
  const noNumber = (): string => t('days', { count: 'x' });
  expect([misspelled, missing, wrong, noNumber]).toHaveLength(4);
});

test('the first browser language with a translation is used, with the region of the browser', () => {
  expect(languageOf('de-AT')).toBe('de');
  expect(preferredLanguage(['sv-SE', 'es-MX', 'de'])).toBe('es');
  expect(preferredLanguage(['sv'])).toBe('en');
  expect(localeOf('en', ['de', 'en-GB'])).toBe('en-GB');
  expect(localeOf('ja', ['de'])).toBe('ja');
});
