import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWeb, untilLoggedIn, type Web } from '../web-visit.ts';

/** The web client in Chromium, by somebody who has no pointer. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const maxTabs = 80;

const hasFocus = (target: Locator): Promise<boolean> =>
  target.first().evaluate((element) => element === element.ownerDocument.activeElement);

/** Presses Tab until the focus is on an element, which must be visible there. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.first().waitFor();
  for (let pressed = 0; pressed < maxTabs; pressed++) {
    await page.keyboard.press('Tab');
    if (await hasFocus(target)) {
      expect(await target.first().isVisible()).toBe(true);
      return;
    }
  }
  throw new Error(`Tab does not reach ${target}`);
}

test('a person signs in, reads, replies, reacts, searches and changes a setting with the keyboard alone', async () => {
  const other = web.clientOf('member2');
  const inTopic = { type: 'channel' as const, to: web.general, topic: 'keys' };
  for (const content of ['The first word', 'The last word']) await other.sendMessage({ ...inTopic, content });
  const { page, faults } = await web.stranger(web.topicPath('keys'));
  await signIn(page);

  // Reading: the keys go from message to message.
  const article = (text: string): Locator => page.locator('[data-message]').filter({ hasText: text });
  await article('The last word').waitFor();
  await tabTo(page, page.getByRole('region', { name: 'Messages' }));
  await expect
    .poll(async () => {
      await page.keyboard.press('End');
      return hasFocus(article('The last word'));
    })
    .toBe(true);
  await page.keyboard.press('k');
  await expect.poll(() => hasFocus(article('The first word'))).toBe(true);

  // Reacting.
  await page.keyboard.press(':');
  await page.getByRole('combobox', { name: 'Find an emoji' }).waitFor();
  await page.keyboard.type('tada');
  await page.getByRole('option', { name: 'tada' }).first().waitFor();
  await page.keyboard.press('Enter');
  await article('The first word').getByRole('button', { name: 'tada: 1, you' }).waitFor();
  await expect.poll(() => hasFocus(article('The first word'))).toBe(true);

  // Replying.
  await page.keyboard.press('r');
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('compose');
  await page.keyboard.type('A reply without a mouse');
  await page.keyboard.press('Enter');
  await article('A reply without a mouse').waitFor();

  // Searching.
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  const search = page.getByRole('combobox', { name: 'Search messages' });
  await expect.poll(() => hasFocus(search)).toBe(true);
  await page.keyboard.type('without a mouse');
  await page.keyboard.press('Enter');
  await page.locator('.highlight').first().waitFor();

  await turnSoundsOff(page);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('keys act on messages also if one that was not sent is at the end, and End leads to it', async () => {
  const other = web.clientOf('member2');
  const inTopic = { type: 'channel' as const, to: web.general, topic: 'refused' };
  const { page, faults } = await web.visit('member', web.topicPath('refused'));
  const article = (index: number): Locator => page.locator('[data-message]').filter({ hasText: `Message ${index}` });
  await page.getByText('There are no messages here yet').waitFor();
  // The list follows them, so it is at its end.
  for (let index = 0; index < 40; index++)
    await other.sendMessage({ ...inTopic, content: `Message ${index}`, read_by_sender: true });
  await article(39).waitFor();
  await page.route('**/json/messages', (route) =>
    route.fulfill({ status: 400, json: { result: 'error', msg: 'The ink is dry.', code: 'BAD_REQUEST' } }),
  );
  await page.locator('#compose').fill('Not wanted');
  await page.keyboard.press('Enter');
  const refused = page.locator('[data-outgoing]').filter({ hasText: 'The ink is dry.' });
  await refused.waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('k');
  await expect.poll(() => hasFocus(article(39))).toBe(true);
  for (let index = 38; index > 10; index--) {
    await page.keyboard.press('k');
    await expect.poll(() => hasFocus(article(index))).toBe(true);
  }
  await expect.poll(() => refused.count()).toBe(0);
  await page.keyboard.press('End');
  await refused.waitFor();
  await refused.getByRole('button', { name: 'Discard' }).click();
  expect(faults).toEqual([]);
  await page.context().close();
});

async function signIn(page: Page): Promise<void> {
  const { email, password } = web.system.people.member;
  await untilLoggedIn(page, async () => {
    await tabTo(page, page.getByLabel('Email'));
    await page.keyboard.press('Control+a');
    await page.keyboard.type(email);
    await tabTo(page, page.getByLabel('Password'));
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
  });
}

/** Escape gives the focus back to the button that opened the menu. */
async function turnSoundsOff(page: Page): Promise<void> {
  const account = page.getByRole('button', { name: /^Account of/ });
  await page.keyboard.press('Control+Home');
  await tabTo(page, account);
  await page.keyboard.press('Enter');
  // The menu moves the focus some time after a key. It does not begin again at its end, so no item may be passed by.
  await page.locator('[role=menuitemradio][data-highlighted]').waitFor();
  const focused = () => page.evaluate('document.activeElement.textContent');
  const item = page.getByRole('menuitem', { name: 'Settings' });
  while (!(await hasFocus(item))) {
    const before = await focused();
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).not.toBe(before);
  }
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Settings' });
  await tabTo(page, dialog.getByRole('button', { name: 'Notifications' }));
  await page.keyboard.press('Enter');
  const sounds = dialog.getByLabel('Play a sound with notifications');
  await tabTo(page, sounds);
  await page.keyboard.press('Space');
  await expect.poll(() => sounds.isChecked()).toBe(false);
  await dialog.getByText('Saved.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => hasFocus(account)).toBe(true);
}
