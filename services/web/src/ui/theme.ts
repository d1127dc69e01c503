import { store, stored } from '../browser/storage.ts';
import { t } from '../text/text.ts';

export type Theme = 'system' | 'light' | 'dark';

const key = 'natter theme';

export const themes: readonly Theme[] = ['system', 'light', 'dark'];

export const themeNames: Record<Theme, string> = { system: t('sameAsTheSystem'), light: t('light'), dark: t('dark') };

export function currentTheme(): Theme {
  const kept = stored(key);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function applyTheme(theme = currentTheme()): void {
  store(key, theme);
  document.documentElement.dataset.theme = theme;
}
