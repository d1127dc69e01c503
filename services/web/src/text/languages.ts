import type { English, Faults } from './catalogue.ts';

interface Language {
  /** The name of the language in this language. */
  name: string;
  direction: 'ltr' | 'rtl';
  load: () => Promise<{ texts: English }>;
}

/** Does not compile if a translation is not complete: the message names the keys. */
const translated = <Translation>(
  load: () => Promise<{ texts: Translation }>,
  ..._faults: [Faults<Translation>] extends [never] ? [] : [faults: Faults<Translation>]
): Language['load'] => load as unknown as Language['load'];

/** The languages of the interface. Each is a file of its own, and a page loads one of them. */
export const languages = {
  en: { name: 'English', direction: 'ltr', load: () => import('./en.ts') },
  de: { name: 'Deutsch', direction: 'ltr', load: translated(() => import('./de.ts')) },
  es: { name: 'Español', direction: 'ltr', load: translated(() => import('./es.ts')) },
  ja: { name: '日本語', direction: 'ltr', load: translated(() => import('./ja.ts')) },
} as const satisfies Record<string, Language>;

export type LanguageCode = keyof typeof languages;
export const languageCodes = Object.keys(languages) as readonly LanguageCode[];

/** The language of a tag such as `de-AT`. */
export function languageOf(tag: string): LanguageCode | undefined {
  const primary = tag.toLowerCase().split('-')[0];
  return languageCodes.find((code) => code === primary);
}
