import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MailServer, startMailServer } from '../mail-server.ts';
import { checkLook, openDialog } from '../web-look.ts';
import { openWeb, type Web, withoutLimits } from '../web-visit.ts';

/** How people get in and out, in Chromium: forgotten passwords, invitation links, and the end of all sessions. */

let web: Web;
let mails: MailServer;
beforeAll(async () => {
  mails = await startMailServer();
  web = await openWeb({ env: { ...withoutLimits, NATTER_SMTP_URL: mails.url } });
});
afterAll(async () => {
  await web?.close();
  await mails?.stop();
});

async function logIn(page: Page, email: string, password: string): Promise<void> {
  await page.locator('input[name=username]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('main.conversation').waitFor();
}

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
  const { link } = await mails.next(email);
  await page.goto(link);
  await checkLook(page);
  await page.getByLabel('New password').fill('short');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('alert').waitFor();
  await checkLook(page);
  await page.getByLabel('New password').fill('a new secret of mine');
  await page.getByRole('button', { name: 'Set password' }).click();
  await checkLook(page);
  await open.waitForURL('**/accounts/login*');
  await page.getByRole('link', { name: 'Log in' }).click();
  await logIn(page, email, 'a new secret of mine');
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
    await page.goto((await mails.next(email)).link);
  }
  await page.getByLabel('Full name').fill('Nora New');
  await page.getByLabel('Password').fill('a secret of Nora');
  await checkLook(page);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name: /^Welcome to/ }).waitFor();
  await checkLook(page);
  await page.getByRole('link', { name: 'Log in' }).click();
  await logIn(page, email, 'a secret of Nora');
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
