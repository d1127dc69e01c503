import { t } from '../text/text.ts';

/** The roles of people, with their numbers in the API. */
export const roles = [
  [100, t('owner')],
  [200, t('administrator')],
  [300, t('moderator')],
  [400, t('member')],
  [600, t('guest')],
] as const;

export const roleName = (role: number): string => roles.find(([value]) => value === role)?.[1] ?? '';
