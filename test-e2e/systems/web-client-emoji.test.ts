import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { onePixel } from '../one-pixel.ts';
import { message, openWeb, type Web } from '../web-visit.ts';

/** The emoji picker of the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const picker = (page: Page) => page.getByRole('dialog', { name: 'Add an emoji' });

test('an emoji is chosen by keyboard and inserted at the cursor, separate from the words around it', async () => {
  const { page, faults } = await web.visit('member', web.topicPath('emoji'));
  const box = page.locator('#compose');
  await box.fill('Well done!');
  for (let step = 0; step < ' done!'.length; step++) await box.press('ArrowLeft');
  const button = page.getByRole('button', { name: 'Emoji', exact: true });
  await button.focus();
  await button.press('Enter');
  await picker(page).getByRole('combobox', { name: 'Find an emoji' }).fill('tad');
  await picker(page).getByRole('option', { name: 'tada' }).first().waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await findingsOf(page)]).toEqual([colorScheme, []]);
  }
  await page.keyboard.press('Enter');
  await expect.poll(() => box.inputValue()).toBe('Well :tada: done!');
  await page.keyboard.type('!');
  await expect.poll(() => box.inputValue()).toBe('Well :tada:! done!');
  await button.click();
  await picker(page).waitFor();
  await page.keyboard.press('Escape');
  await picker(page).waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate('document.activeElement?.title')).toBe('Emoji');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an emoji of the organization is suggested, and takes precedence over the Unicode emoji of its name', async () => {
  const file = new File([onePixel], 'clap.png', { type: 'image/png' });
  await web.clientOf('owner').addRealmEmoji({ emoji_name: 'clap', file });
  const draft = { type: 'stream' as const, to: [web.general], topic: 'own emoji', content: 'Well done' };
  await web.clientOf('member').createDrafts({ drafts: [draft] });
  const { page, faults } = await web.visit('member', web.topicPath('own%20emoji'), {
    viewport: { width: 360, height: 640 },
  });
  const choose = async (nth: number): Promise<void> => {
    await page.getByRole('button', { name: 'Emoji', exact: true }).click();
    await picker(page).getByRole('combobox').fill('clap');
    await picker(page).getByRole('option').nth(nth).click();
    await picker(page).waitFor({ state: 'detached' });
  };
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('region', { name: 'Preview' }).waitFor();
  await choose(0);
  const box = page.locator('#compose');
  await expect.poll(() => box.inputValue()).toBe('Well done :clap: ');
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await box.press('End');
  await page.keyboard.type('and this');
  await box.press('Enter');
  await message(page, 'and this').locator('img.emoji[alt=":clap:"]').waitFor();
  await choose(1);
  await expect.poll(() => box.inputValue()).toBe(':applause: ');
  expect(faults).toEqual([]);
  await page.context().close();
});
