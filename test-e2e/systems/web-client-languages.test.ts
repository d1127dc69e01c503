import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLook } from '../web-look.ts';
import { message, openWeb, type Web } from '../web-visit.ts';

/** The web client in German, Spanish and Japanese. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const languages = [
  {
    locale: 'de-AT',
    code: 'de',
    inbox: 'Posteingang',
    channels: 'Kanäle',
    settings: 'Einstellungen',
    appearance: 'Darstellung',
    language: 'Sprache',
    account: /^Konto von/,
  },
  {
    locale: 'es-MX',
    code: 'es',
    inbox: 'Bandeja de entrada',
    channels: 'Canales',
    settings: 'Ajustes',
    appearance: 'Apariencia',
    language: 'Idioma',
    account: /^Cuenta de/,
  },
  {
    locale: 'ja-JP',
    code: 'ja',
    inbox: '受信トレイ',
    channels: 'チャンネル',
    settings: '設定',
    appearance: '外観',
    language: '言語',
    account: /のアカウント$/,
  },
] as const;

const languageOf = (page: Page): Promise<unknown> =>
  page.evaluate('[document.documentElement.lang, document.documentElement.dir]');

/** The text of its label contains the options, so that it has no exact name. */
const choiceIn = (dialog: Locator, name: string): Locator =>
  dialog
    .locator('label')
    .filter({ has: dialog.page().getByText(name, { exact: true }) })
    .locator('select');

const serverLanguage = async (): Promise<unknown> => {
  const state = await web.clientOf('member').register({
    fetch_event_types: ['user_settings'],
    client_capabilities: { user_settings_object: true },
  });
  return (state as { user_settings?: { default_language?: string } }).user_settings?.default_language;
};

for (const one of languages)
  test(`a browser in ${one.code} gets translated pages, and keeps a draft when the language changes`, async () => {
    const path = web.topicPath(`language-${one.code}`);
    const { page, faults } = await web.visit('member', path, { locale: one.locale });
    await page.getByRole('link', { name: one.inbox }).waitFor();
    await page.getByText(one.channels, { exact: true }).first().waitFor();
    await expect.poll(() => languageOf(page)).toEqual([one.code, 'ltr']);
    await page.locator('#compose').fill(`Sent in ${one.code}`);
    await page.locator('#compose').press('Enter');
    await message(page, `Sent in ${one.code}`).waitFor();
    await checkLook(page);
    await page.locator('#compose').fill('A draft that stays');
    await page.getByRole('button', { name: one.account }).click();
    await page.getByRole('menuitem', { name: one.settings, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: one.settings, exact: true });
    await dialog.getByRole('button', { name: one.appearance, exact: true }).click();
    await checkLook(page);
    await choiceIn(dialog, one.language).selectOption('en');
    await page.getByRole('link', { name: 'Inbox' }).waitFor();
    await expect.poll(() => languageOf(page)).toEqual(['en', 'ltr']);
    await expect.poll(() => page.locator('#compose').inputValue()).toBe('A draft that stays');
    await page.locator('#compose').fill('');
    expect(faults).toEqual([]);
    await page.context().close();
  });

test('the chosen language becomes that of the account, and browsers without a choice use it', async () => {
  const { page } = await web.visit('member', '/', { locale: 'en-US' });
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Settings', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Settings', exact: true });
  await dialog.getByRole('button', { name: 'Appearance', exact: true }).click();
  await choiceIn(dialog, 'Language').selectOption('ja');
  await page.getByRole('link', { name: '受信トレイ' }).waitFor();
  await expect.poll(serverLanguage).toBe('ja');
  await page.context().close();
  const other = await web.visit('member', '/', { locale: 'de-DE' });
  await other.page.getByRole('link', { name: '受信トレイ' }).waitFor();
  await web.clientOf('member').updateSettings({ default_language: 'en' });
  await other.page.context().close();
});
