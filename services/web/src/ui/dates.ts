import { store, stored } from '../browser/storage.ts';
import { locale } from '../text/text.ts';

const key = 'natter dates';

/** Languages of dates beside that of the texts; their names in themselves. */
export const dateLanguages = ['en-GB', 'en-US', 'de', 'es', 'fr', 'ja', 'sv'] as const;

/** The language in which dates are shown. */
export const dateLanguage = (): string => keptDateLanguage() ?? locale;

/** The choice in this browser; `undefined` for the language of the texts. */
export function keptDateLanguage(): string | undefined {
  const kept = stored(key);
  return dateLanguages.find((one) => one === kept);
}

/** Takes effect when the page is loaded again. */
export function setDateLanguage(language: string): void {
  store(key, language === '' ? undefined : language);
}

/** A time in seconds, in short. */
export const shortTime = (seconds: number): string =>
  new Intl.DateTimeFormat(dateLanguage(), { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(seconds * 1_000),
  );
