import { loadPart } from '../browser/load-part.ts';
import type { Key, Values } from './catalogue.ts';
import { localeOf, preferredLanguage } from './choice.ts';
import { languages } from './languages.ts';

/** Outside of a page, such as in tests, texts are English. */
const tags = typeof document === 'undefined' ? [] : navigator.languages;

/** The language of the texts of this page. It changes when the page is loaded again. */
export const language = preferredLanguage(tags);
/** The language that the page has when it is loaded again. */
export const preferredNow = (): typeof language => preferredLanguage(tags);
export const locale = localeOf(language, tags);

// Modules that import this one wait for the texts, so that also their constants may contain them.
const { texts } = await loadPart(languages[language].load);

const { format: numberText } = new Intl.NumberFormat(locale);
const plurals = new Intl.PluralRules(language);
const names = new Intl.ListFormat(language, { type: 'conjunction' });

export { numberText };

/** The text of a key in the language of the page, with its placeholders filled. */
export function t<K extends Key>(key: K, ...values: keyof Values<K> extends never ? [] : [values: Values<K>]): string;
export function t(key: Key, values: Readonly<Record<string, string | number>> = {}): string {
  const entry = texts[key] as string | Readonly<Record<string, string>>;
  const form = typeof entry === 'string' ? entry : (entry[plurals.select(Number(values.count))] ?? entry.other ?? '');
  return form.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    return typeof value === 'number' ? numberText(value) : value;
  });
}

/** Names in one phrase, such as “Ada, Ben and Cy”. */
export const listText = (all: readonly string[]): string => names.format(all);

/** Sets the language of the page for browsers and screen readers. */
export function markPage(): void {
  document.documentElement.lang = language;
  document.documentElement.dir = languages[language].direction;
}
