import { store, stored } from '../browser/storage.ts';
import { type LanguageCode, languageCodes, languageOf } from './languages.ts';

const chosenKey = 'natter language';
const accountKey = 'natter language of account';

const kept = (key: string): LanguageCode | undefined => {
  const value = stored(key);
  return languageCodes.find((code) => code === value);
};

/** The language that was chosen in this browser; `undefined` for that of the account or of the browser. */
export const chosenLanguage = (): LanguageCode | undefined => kept(chosenKey);

export const chooseLanguage = (code: LanguageCode | undefined): void => store(chosenKey, code);

/** The language of the page: the chosen one, otherwise that of the account, otherwise that of the browser. */
export function preferredLanguage(tags: readonly string[]): LanguageCode {
  return chosenLanguage() ?? kept(accountKey) ?? tags.map(languageOf).find((code) => code !== undefined) ?? 'en';
}

/**
 * Keeps the language of the account for the next page. Accounts without a chosen language have English, so the browser
 * decides for them. Returns whether it could be kept.
 */
export function rememberAccount(setting: unknown): boolean {
  const code = languageCodes.find((one) => one === setting && one !== 'en');
  store(accountKey, code);
  return kept(accountKey) === code;
}

/** The tag of numbers and dates: with the region of the browser, if it has the language of the texts. */
export const localeOf = (code: LanguageCode, tags: readonly string[]): string =>
  tags.find((tag) => languageOf(tag) === code) ?? code;
