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

interface Option {
  key: string;
  text: string;
}

/** The options of a field, in their order. */
export function optionsOf(field: ProfileField): Option[] {
  const all = Object.entries(dataOf(field) as Record<string, { text: string; order: string }>);
  return all.sort(([, a], [, b]) => Number(a.order) - Number(b.order)).map(([key, { text }]) => ({ key, text }));
}

/** Options from lines. An option that was there keeps its key, so that the values of people stay. */
export function optionData(lines: string, before: readonly Option[]): Record<string, { text: string; order: string }> {
  const texts = [...new Set(lines.split('\n').map((line) => line.trim()))].filter((text) => text !== '');
  const highest = Math.max(-1, ...before.map(({ key }) => Number(key) || 0));
  let next = highest;
  return Object.fromEntries(
    texts.map((text, at) => {
      const key = before.find((one) => one.text === text)?.key ?? String(++next);
      return [key, { text, order: String(at) }];
    }),
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
