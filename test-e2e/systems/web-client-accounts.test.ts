import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLook, openDialog } from '../web-look.ts';
import { logInAt, openWeb, untilHashed, type Web } from '../web-visit.ts';

/** How people get in and out, in Chromium: forgotten passwords, invitation links, and the end of all sessions. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

test('a user who forgot the password sets a new one by mail, which ends all other sessions', async () => {
  const { page: open, faults } = await web.visit('member');
  const { email } = web.system.people.member;
  const { page } = await web.stranger();
  await page.getByRole('link', { name: 'Forgotten password' }).click();
  await checkLook(page);
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
  await checkLook(page);
  const { link } = await web.mails.next(email);
  await page.goto(link);
  await checkLook(page);
  await page.getByLabel('New password').fill('short');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('alert').waitFor();
  await checkLook(page);
  const setPassword = async (): Promise<void> => {
    await page.getByLabel('New password').fill('a new secret of mine');
    await page.getByRole('button', { name: 'Set password' }).click();
  };
  await untilHashed(page, setPassword, () => page.goto(link));
  await checkLook(page);
  await open.waitForURL('**/accounts/login*');
  await page.getByRole('link', { name: 'Log in' }).click();
  await logInAt(page, { email, password: 'a new secret of mine' });
  await page.goto(link);
  await page.getByRole('heading', { name: /does not work/ }).waitFor();
  await checkLook(page);
  expect(faults).toEqual([]);
  await Promise.all([open.context().close(), page.context().close()]);
});

test('an invitation link lets a new user join until it is revoked', async () => {
  const { page: owner, faults } = await web.visit('owner');
  const dialog = await openDialog(owner, 'Organization');
  await dialog.getByRole('button', { name: 'Invitations' }).click();
  await dialog.getByRole('button', { name: 'New invitation link' }).click();
  const field = dialog.getByLabel('Invitation link');
  await expect.poll(() => field.inputValue()).toContain('/join/');
  const link = await field.inputValue();
  const email = 'nora@newcomers.example';
  const { page } = await web.stranger(new URL(link).pathname);
  await checkLook(page);
  await page.getByLabel('Email').fill(email);
  const sendsLink = page.getByRole('button', { name: 'Send me a link' });
  if (await sendsLink.isVisible()) {
    await sendsLink.click();
    await page.goto((await web.mails.next(email)).link);
  }
  await untilHashed(page, async () => {
    await page.getByLabel('Full name').fill('Nora New');
    await page.getByLabel('Password').fill('a secret of Nora');
    await checkLook(page);
    await page.getByRole('button', { name: 'Sign up' }).click();
  });
  await page.getByRole('heading', { name: /^Welcome to/ }).waitFor();
  await checkLook(page);
  await page.getByRole('link', { name: 'Log in' }).click();
  await logInAt(page, { email, password: 'a secret of Nora' });
  await page.getByRole('button', { name: 'Account of Nora New' }).waitFor();
  await dialog.getByRole('button', { name: 'Revoke' }).first().click();
  await field.waitFor({ state: 'detached' });
  await page.goto(link);
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
  expect(faults).toEqual([]);
  await Promise.all([owner.context().close(), page.context().close()]);
});

test('a person who logs out everywhere is logged out in every tab and browser', async () => {
  const [here, there] = await Promise.all([web.visit('member2'), web.visit('member2')]);
  const tab = await there.page.context().newPage();
  await tab.goto(web.system.url);
  await tab.locator('main.conversation').waitFor();
  const dialog = await openDialog(here.page, 'Settings');
  await dialog.getByRole('button', { name: 'Access' }).click();
  await dialog.getByRole('button', { name: 'Log out everywhere' }).click();
  for (const page of [here.page, there.page, tab]) await page.waitForURL('**/accounts/login*', { timeout: 120_000 });
  expect([...here.faults, ...there.faults]).toEqual([]);
  await Promise.all([here.page.context().close(), there.page.context().close()]);
});

/** The names of the texts that a browser keeps, such as `draft 9`. */
const keptTexts = (page: Page): Promise<string[]> =>
  page.evaluate(`Object.keys(localStorage)
    .flatMap((name) => /^natter (?:outbox|draft|edit|topic) \\d+/.exec(name)?.[0].slice(7) ?? [])
    .sort()`);

test('a logout removes the texts of the account from the browser, and asks before something unsent is lost', async () => {
  const { user_id } = web.system.people.moderator;
  const { page, faults } = await web.visit('moderator', `/channel/${web.general}/topic/logout`);
  const busy = { status: 503, json: { result: 'error', msg: 'Busy.', code: 'BUSY' } };
  await page.route(/\/json\/(messages|drafts)$/, (route) =>
    route.request().method() === 'POST' ? route.fulfill(busy) : route.continue(),
  );
  await page.evaluate(`for (const name of ['draft 999999 topic', 'edit ${user_id} message 1', 'topic ${user_id} 1'])
    localStorage.setItem('natter ' + name, JSON.stringify({ text: 'Kept' }))`);
  const box = page.locator('#compose');
  await box.fill('Waits');
  await box.press('Enter');
  await page.locator('[data-outgoing]').waitFor();
  await box.fill('Not saved');
  const own = ['draft', 'edit', 'outbox', 'topic'].map((kind) => `${kind} ${user_id}`);
  const all = [...own, 'draft 999999'].sort();
  await expect.poll(() => keptTexts(page)).toEqual(all);
  const logOut = async (): Promise<void> => {
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
  };
  await logOut();
  const question = page.getByRole('dialog', { name: 'Log out now?' });
  await question.waitFor();
  await checkLook(page);
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  expect(await box.inputValue()).toBe('Not saved');
  expect(await keptTexts(page)).toEqual(all);
  await logOut();
  await question.getByRole('button', { name: 'Log out' }).click();
  await page.locator('input[name=username]').waitFor();
  expect(await keptTexts(page)).toEqual(['draft 999999']);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the field of the own name says so where names may not change', async () => {
  const owner = web.clientOf('owner');
  const { page, faults } = await web.visit('member2');
  const dialog = await openDialog(page, 'Settings');
  const field = dialog.getByLabel('Name', { exact: true });
  expect(await field.isEnabled()).toBe(true);
  await owner.updateRealm({ name_changes_disabled: true });
  await dialog.getByText('People may not change their names').waitFor();
  expect(await field.isEnabled()).toBe(false);
  await owner.updateRealm({ name_changes_disabled: false });
  await expect.poll(() => field.isEnabled()).toBe(true);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a login leads to the conversation of a link, an unknown address shows a page, and sessions name browsers', async () => {
  const { page, faults } = await web.visit('moderator', `/#narrow/channel/${web.general}-general/topic/welcome`);
  await page.getByRole('heading', { level: 1, name: '#general › welcome' }).waitFor();
  const answer = await page.goto(`${web.system.url}/nope`);
  expect(answer?.status()).toBe(404);
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await checkLook(page);
  const dialog = await openDialog(page, 'Settings');
  await dialog.getByRole('button', { name: 'Access' }).click();
  await dialog.getByText(/^(Chrome|Firefox|Safari) on \w+$/).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
