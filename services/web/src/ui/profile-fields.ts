import type { Client } from '@natter/client';
import { t } from '../text/text.ts';

export type ProfileField = Awaited<ReturnType<Client['getProfileFields']>>['custom_fields'][number];

export const fieldKinds = {
  short: 1,
  long: 2,
  options: 3,
  date: 4,
  link: 5,
  people: 6,
  account: 7,
  pronouns: 8,
} as const;
export const kindNames = [
  [fieldKinds.short, t('shortText')],
  [fieldKinds.long, t('longText')],
  [fieldKinds.options, t('oneOfSeveralOptions')],
  [fieldKinds.date, t('date')],
  [fieldKinds.link, t('link')],
  [fieldKinds.people, t('people')],
  [fieldKinds.account, t('accountElsewhere')],
  [fieldKinds.pronouns, t('pronouns')],
] as const;

/** The data of a field's type, as the API stores it: JSON, or empty. */
function dataOf({ field_data }: Pick<ProfileField, 'field_data'>): Record<string, unknown> {
  try {
    return JSON.parse(field_data || '{}');
  } catch {
    return {};
  }
}

export interface Option {
  key: string;
  text: string;
}

/** The options of a field, in their order. */
export function optionsOf(field: ProfileField): Option[] {
  const all = Object.entries(dataOf(field) as Record<string, { text: string; order: string }>);
  return all.sort(([, a], [, b]) => Number(a.order) - Number(b.order)).map(([key, { text }]) => ({ key, text }));
}

/** The options that an administrator edited, and the same as they were before. */
interface EditedOptions {
  before: readonly Option[];
  after: readonly Option[];
}

/**
 * Applies the edits to the newest options, because somebody else may have changed the field meanwhile. Returns the newest
 * options themselves if nothing differs.
 */
export function mergedOptions({ before, after }: EditedOptions, newest: readonly Option[]): readonly Option[] {
  const textsBefore = new Map(before.map(({ key, text }) => [key, text]));
  const texts = new Map(after.map(({ key, text }) => [key, text]));
  const merged = newest
    .filter(({ key }) => texts.has(key) || !textsBefore.has(key))
    .map(({ key, text }) => {
      const edited = texts.get(key);
      return { key, text: edited === undefined || edited === textsBefore.get(key) ? text : edited };
    });
  const order = [...texts.keys()];
  const isMoved = order.join() !== before.flatMap(({ key }) => (texts.has(key) ? [key] : [])).join();
  const placeOf = (key: string): number => (texts.has(key) ? order.indexOf(key) : order.length);
  const result = isMoved ? merged.toSorted((a, b) => placeOf(a.key) - placeOf(b.key)) : merged;
  return JSON.stringify(result) === JSON.stringify(newest) ? newest : result;
}

/** The data of a field with these options, and with new ones: one in each line. A key that was taken is not given again. */
export function optionData(options: readonly Option[], lines: string, taken: readonly Option[] = options) {
  const texts = [...new Set(lines.split('\n').map((line) => line.trim()))].filter(
    (text) => text !== '' && !options.some((one) => one.text === text),
  );
  const highest = Math.max(-1, ...taken.map(({ key }) => Number(key) || 0));
  const added = texts.map((text, at) => ({ key: String(highest + 1 + at), text }));
  return Object.fromEntries(
    [...options, ...added].map(({ key, text }, at) => [key, { text: text.trim(), order: String(at) }]),
  );
}

const accountPatterns: Readonly<Record<string, string>> = {
  github: 'https://github.com/%(username)s',
  twitter: 'https://twitter.com/%(username)s',
};

/** The page of an account; undefined if its address is no web address. */
export function accountLink(field: ProfileField, username: string): string | undefined {
  const { subtype, url_pattern } = dataOf(field);
  const pattern = accountPatterns[String(subtype)] ?? String(url_pattern ?? '');
  return webLink(pattern.replace('%(username)s', encodeURIComponent(username)));
}

export const webLink = (address: string): string | undefined =>
  URL.canParse(address) && /^https?:$/.test(new URL(address).protocol) ? address : undefined;

export function peopleOf(value: string): number[] {
  try {
    const ids: unknown = JSON.parse(value || '[]');
    return Array.isArray(ids) ? ids.filter((id) => Number.isInteger(id)) : [];
  } catch {
    return [];
  }
}
