import { store, stored } from '../session/storage.ts';

export type Theme = 'system' | 'light' | 'dark';

const key = 'natter theme';

export const themes: readonly Theme[] = ['system', 'light', 'dark'];

export const themeNames: Record<Theme, string> = { system: 'Same as the system', light: 'Light', dark: 'Dark' };

export function currentTheme(): Theme {
  const kept = stored(key);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function applyTheme(theme = currentTheme()): void {
  store(key, theme);
  document.documentElement.dataset.theme = theme;
}
