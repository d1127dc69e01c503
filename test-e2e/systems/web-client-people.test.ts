import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorizationOf } from '../api.ts';
import { onePixel } from '../one-pixel.ts';
import { untilServed } from '../patience.ts';
import { checkLook, openDialog } from '../web-look.ts';
import { message, openWeb, type PersonName, type Visit, type Web } from '../web-visit.ts';

/** The web client in Chromium shows who is here, what they say about themselves, and hides muted people. */

let web: Web;
let mia = '';
beforeAll(async () => {
  web = await openWeb();
  mia = (await web.clientOf('member2').getOwnUser()).full_name;
  await direct('member2', 'member', 'Hello Max');
});
afterAll(() => web?.close());

const direct = (from: PersonName, to: PersonName, content: string) =>
  web.clientOf(from).sendMessage({ type: 'direct', to: [web.system.people[to].user_id], content });
const inTopic = (from: PersonName, content: string) =>
  web.clientOf(from).sendMessage({ type: 'channel', to: web.general, topic: 'people', content });

const path = (): string => web.topicPath('people');
const visit = (name: PersonName, at = path()): Promise<Visit> => web.visit(name, at);
const sidebar = (page: Page) => page.getByRole('navigation', { name: 'Conversations' });
const entry = (page: Page, name: string) => sidebar(page).getByRole('link', { name });

async function openCard(page: Page, text: string): Promise<void> {
  await message(page, text).first().focus();
  await page.keyboard.press('u');
  await page.getByRole('dialog').waitFor();
}

test('a user who opens the client is shown as active to others, and as idle without the focus', async () => {
  const { page, faults } = await visit('member');
  await entry(page, mia).waitFor();
  expect(await entry(page, mia).locator('.dot').getAttribute('data-availability')).toBe('offline');
  const other = await visit('member2');
  await entry(page, mia).locator('[data-availability="active"]').waitFor();
  await inTopic('member2', 'I am here');
  await openCard(page, 'I am here');
  await page.getByRole('dialog').getByText('Active').first().waitFor();
  await checkLook(page);
  const reports: string[] = [];
  other.page.on('request', (one) => one.url().endsWith('/presence') && reports.push(one.postData() ?? ''));
  await other.page.evaluate("Document.prototype.hasFocus = () => false; dispatchEvent(new Event('blur'))");
  await expect.poll(() => reports.some((body) => body.includes('status=idle'))).toBe(true);
  expect([...faults, ...other.faults]).toEqual([]);
  await Promise.all([page.context().close(), other.page.context().close()]);
});

test('a status with an emoji is set, shown to others beside the name, and cleared', async () => {
  const [own, other] = await Promise.all([visit('member2'), visit('member')]);
  await openDialog(own.page, 'Set a status');
  await own.page.getByLabel('What others read beside your name').fill('Feeding the cat');
  await own.page.getByRole('button', { name: 'Choose an emoji' }).click();
  await own.page.getByRole('combobox', { name: 'Find an emoji' }).fill('cat');
  await own.page.getByRole('option', { name: 'cat', exact: true }).waitFor();
  await own.page.keyboard.press('Enter');
  expect(await own.page.getByLabel('What others read beside your name').inputValue()).toBe('Feeding the cat');
  await checkLook(own.page);
  await own.page.getByRole('button', { name: 'Save the status' }).click();
  await own.page
    .getByRole('button', { name: /^Account of/ })
    .locator('.status-emoji')
    .waitFor();
  await entry(other.page, mia).locator('.status-emoji[title="Feeding the cat"]').waitFor();
  await inTopic('member2', 'With a status');
  await openCard(other.page, 'With a status');
  await other.page.getByRole('dialog').getByText('Feeding the cat').waitFor();
  await openDialog(own.page, 'Set a status');
  await own.page.getByRole('button', { name: 'Clear the status' }).click();
  await entry(other.page, mia).locator('.status-emoji').waitFor({ state: 'detached' });
  expect([...own.faults, ...other.faults]).toEqual([]);
  await Promise.all([own.page.context().close(), other.page.context().close()]);
});

test('messages of a muted user are hidden and counted, and shown again after unmuting', async () => {
  const { page, faults } = await visit('member');
  await inTopic('member2', 'The first of Mia');
  await inTopic('member2', 'The second of Mia');
  await openCard(page, 'The second of Mia');
  const card = page.getByRole('dialog');
  await card.getByRole('button', { name: 'Mute', exact: true }).click();
  await card.getByRole('button', { name: 'Unmute', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByText('The second of Mia').count()).toBe(0);
  await expect.poll(() => entry(page, mia).count()).toBe(0);
  const hidden = page.getByText(/messages of muted people/);
  const before = Number((await hidden.textContent())?.match(/\d+/)?.[0]);
  await inTopic('member2', 'The third of Mia');
  await direct('member2', 'member', 'A direct one of Mia');
  await inTopic('member2', 'The fourth of Mia');
  await page.getByText(`${before + 2} messages of muted people`).waitFor();
  expect(await page.locator('#compose').isVisible()).toBe(true);
  await checkLook(page);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await message(page, 'The fourth of Mia').waitFor();
  await page.goto(`${web.system.url}/inbox`);
  const inbox = page.getByRole('main');
  await inbox.getByRole('heading', { name: 'Inbox' }).waitFor();
  expect(await inbox.getByText(mia).count()).toBe(0);
  const settings = await openDialog(page, 'Settings');
  await settings.getByRole('button', { name: 'Notifications' }).click();
  await checkLook(page);
  await settings.getByRole('button', { name: `Unmute ${mia}` }).click();
  await settings.getByText('Nobody. A profile has a button').waitFor();
  await page.keyboard.press('Escape');
  await entry(page, mia).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

/** Gives a person this picture; without one, the person has initials again. */
async function setPicture(name: PersonName, file: Buffer | undefined): Promise<void> {
  const body = new FormData();
  if (file) body.set('file', new Blob([new Uint8Array(file)], { type: 'image/png' }), 'me.png');
  const send = () =>
    fetch(`${web.system.url}/api/v1/users/me/avatar`, {
      method: file ? 'POST' : 'DELETE',
      headers: { authorization: authorizationOf(web.system.people[name]) },
      ...(file ? { body } : {}),
    });
  const answer = await untilServed(send);
  expect(answer.status).toBe(200);
}

test('a picture is shown beside the messages of its person and in the profile as soon as it is uploaded', async () => {
  await inTopic('moderator', 'How do I look?');
  const { page, faults } = await visit('member');
  const avatar = message(page, 'How do I look?').locator('.avatar');
  await expect.poll(() => avatar.textContent()).toMatch(/^[A-Z]{1,2}$/);
  await setPicture('moderator', onePixel);
  const isDrawn = (): Promise<boolean> =>
    avatar.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth > 0);
  await expect.poll(isDrawn).toBe(true);
  await openCard(page, 'How do I look?');
  await page.getByRole('dialog').locator('.avatar img').waitFor();
  await checkLook(page);
  await page.keyboard.press('Escape');
  await page.reload();
  await expect.poll(isDrawn).toBe(true);
  await setPicture('moderator', undefined);
  await expect.poll(() => avatar.textContent()).toMatch(/^[A-Z]{1,2}$/);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a conversation with a deactivated user says so, and takes no messages', async () => {
  const [owner, gone] = [web.clientOf('owner'), web.system.people.moderator];
  await direct('moderator', 'member', 'Good bye');
  const { page, faults } = await visit('member', `/dm/${gone.user_id}`);
  await page.locator('#compose').fill('Are you there?');
  await owner.deactivateUser({ user_id: gone.user_id });
  await page.getByRole('heading', { level: 1, name: `${gone.full_name} (deactivated)` }).waitFor();
  await page.getByText(`The account of ${gone.full_name} is deactivated.`).waitFor();
  expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
  await checkLook(page);
  await page.goto(`${web.system.url}/dm/${[gone, web.system.people.member2].map(({ user_id }) => user_id).join(',')}`);
  await page.getByText(`Nobody can write here, because accounts are deactivated: ${gone.full_name}.`).waitFor();
  await owner.reactivateUser({ user_id: gone.user_id });
  await page.getByText('Nobody can write here').waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});
