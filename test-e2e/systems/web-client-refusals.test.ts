import type { Locator, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDialog } from '../web-look.ts';
import { leave, openWeb, type Web } from '../web-visit.ts';

/** The API changes an object first, so that the web client in Chromium is refused; the tests check the page afterwards. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const owner = () => web.clientOf('owner');

/** A section of the organization, which an owner opened. */
async function openSection(name: string) {
  const visit = await web.visit('owner');
  const dialog = await openDialog(visit.page, 'Organization');
  await dialog.getByRole('button', { name, exact: true }).click();
  return { visit, dialog };
}

const alarm = (dialog: Locator) => dialog.locator('.outcome.alarm').filter({ hasText: /./ });

async function confirm(dialog: Locator, name: string): Promise<void> {
  for (let click = 0; click < 2; click++) await dialog.getByRole('button', { name, exact: true }).click();
}

test('a profile can be saved after a field of it was removed', async () => {
  const add = (name: string) => owner().createProfileField({ name, hint: '', field_type: 1 });
  const [kept, removed] = [await add('Nickname'), await add('Desk')];
  const visit = await web.visit('member');
  const dialog = await openDialog(visit.page, 'Settings');
  const desk = dialog.getByLabel('Desk');
  await dialog.getByLabel('Nickname').fill('Ada');
  await desk.fill('By the window');
  await owner().removeProfileField({ field_id: removed.id });
  const save = dialog.getByRole('button', { name: 'Save the profile' });
  await save.click();
  await alarm(dialog).waitFor();
  await desk.waitFor({ state: 'detached' });
  expect(await dialog.getByLabel('Nickname').inputValue()).toBe('Ada');
  await save.click();
  await dialog.getByText('Your profile is saved.').waitFor();
  const asked = {
    user_id_or_email: String(web.system.people.member.user_id),
    include_custom_profile_fields: true,
  };
  expect((await owner().getUser(asked)).user.profile_data?.[kept.id]?.value).toBe('Ada');
  await owner().removeProfileField({ field_id: kept.id });
  await leave(visit);
});

const url_template = 'https://tickets.example.com/{id}';
const addLinkifier = async (letter: string): Promise<number> =>
  (await owner().addLinkifier({ pattern: `${letter}(?P<id>[0-9]+)`, url_template })).id;
const nameOf = (letter: string): string => `${letter}(?P<id>[0-9]+)`;

test('a list is loaded again after a refusal, and the refusal stays even if the list cannot be loaded', async () => {
  const [first, second] = [await addLinkifier('A'), await addLinkifier('B')];
  const { visit, dialog } = await openSection('Linkifiers');
  const change = (letter: string) => dialog.getByRole('button', { name: `Change ${nameOf(letter)}` });
  await change('B').waitFor();
  await owner().removeLinkifier({ filter_id: first });
  await confirm(dialog, `Remove ${nameOf('A')}`);
  await alarm(dialog).waitFor();
  const refusal = (await alarm(dialog).textContent()) ?? '';
  await change('A').waitFor({ state: 'detached' });
  expect(await alarm(dialog).allTextContents()).toEqual([refusal]);

  const list = '**/json/realm/linkifiers';
  await visit.page.route(list, (route) =>
    route.request().method() === 'GET'
      ? route.fulfill({ status: 400, json: { result: 'error', msg: 'The list is broken.', code: 'BAD_REQUEST' } })
      : route.continue(),
  );
  await owner().removeLinkifier({ filter_id: second });
  await confirm(dialog, `Remove ${nameOf('B')}`);
  await alarm(dialog).filter({ hasText: 'The list is broken.' }).waitFor();
  expect(await alarm(dialog).allTextContents()).toEqual([refusal, 'The list is broken.']);
  await visit.page.unroute(list);
  await leave(visit);
});

test('the newest list is shown, even if an older one arrives late', async () => {
  await addLinkifier('C');
  const { visit, dialog } = await openSection('Linkifiers');
  const { page } = visit;
  const card = (letter: string) => dialog.getByRole('button', { name: `Change ${nameOf(letter)}` });
  await card('C').waitFor();
  const asked = Promise.withResolvers<Request>();
  const released = Promise.withResolvers<void>();
  let loads = 0;
  await page.route('**/json/realm/linkifiers', async (route) => {
    if (route.request().method() !== 'GET' || ++loads > 1) return route.continue();
    const response = await route.fetch();
    asked.resolve(route.request());
    await released.promise;
    await route.fulfill({ response });
  });
  await dialog.getByLabel(/^Pattern/).fill(nameOf('D'));
  await dialog.getByLabel(/^Address/).fill(url_template);
  await dialog.getByRole('button', { name: 'Add the linkifier' }).click();
  const late = await asked.promise;
  const isRemoval = (one: Request): boolean => one.method() === 'DELETE';
  // Chromium reports some answers that the page has read entirely as aborted.
  const removed = Promise.race([
    page.waitForEvent('requestfinished', isRemoval),
    page.waitForEvent('requestfailed', isRemoval),
  ]);
  await confirm(dialog, `Remove ${nameOf('C')}`);
  await removed;
  // The page handles the answers in their order.
  const settle = () => page.evaluate("fetch('/json/server_settings').then((answer) => answer.text())");
  for (let round = 0; round < 3; round++) await settle();
  released.resolve();
  await late.response();
  await settle();
  await card('D').waitFor();
  await card('C').waitFor({ state: 'detached' });
  await page.unroute('**/json/realm/linkifiers');
  await leave(visit);
});

test('things that somebody else removed leave the list when a change of them is refused', async () => {
  const filter_id = await addLinkifier('E');
  const field = await owner().createProfileField({ name: 'Room', hint: '', field_type: 1 });
  const link = await owner().createInviteLink({ invite_as: 400, stream_ids: [] });
  expect(link.invite_link).toBeTruthy();
  const { visit, dialog } = await openSection('Linkifiers');
  const notice = dialog.getByRole('alert').filter({ hasText: /./ });
  const close = async (): Promise<void> => {
    await notice.getByRole('button', { name: 'Close' }).click();
    await notice.waitFor({ state: 'detached' });
  };
  const change = (name: string) => dialog.getByRole('button', { name: `Change ${name}` });
  await change(nameOf('E')).click();
  await dialog
    .getByLabel(/^Pattern/)
    .last()
    .fill(nameOf('F'));
  await owner().removeLinkifier({ filter_id });
  await dialog.getByRole('button', { name: 'Save the linkifier' }).click();
  await change(nameOf('E')).waitFor({ state: 'detached' });
  await notice.waitFor();
  await close();

  await dialog.getByRole('button', { name: 'Profile fields' }).click();
  await change('Room').click();
  await owner().removeProfileField({ field_id: field.id });
  await dialog.getByLabel('Everybody should fill it in').click();
  await change('Room').waitFor({ state: 'detached' });
  await notice.waitFor();
  await close();

  await dialog.getByRole('button', { name: 'Invitations' }).click();
  const revoke = dialog.getByRole('button', { name: 'Revoke the link' });
  await revoke.waitFor();
  for (const { id } of (await owner().getInvites()).invites) await owner().revokeInviteLink({ invite_id: id });
  await revoke.click();
  await revoke.waitFor({ state: 'detached' });
  await alarm(dialog).waitFor();
  await leave(visit);
});

test('the subscribers of a channel are those of now', async () => {
  const { id: stream_id } = await owner().createChannel({
    name: 'garden',
    subscribers: [web.system.people.owner.user_id],
  });
  const visit = await web.visit('owner');
  const dialog = await openDialog(visit.page, 'Channels');
  await dialog.getByRole('button', { name: 'Details of garden' }).click();
  const list = dialog.getByRole('list', { name: 'Subscribers of garden' });
  await list.getByText(web.system.people.owner.full_name).first().waitFor();
  const entry = list.getByRole('button', { name: `Remove ${web.system.people.member.full_name}` });
  await web.clientOf('member').subscribe({ subscriptions: [{ name: 'garden' }] });
  await entry.waitFor();
  await web.clientOf('member').unsubscribe({ subscriptions: ['garden'] });
  await entry.waitFor({ state: 'detached' });
  // The button above the list.
  await dialog.getByRole('button', { name: 'Unsubscribe garden' }).click();
  await dialog.getByText('Nobody yet.').waitFor();
  await owner().updateChannel({ stream_id, is_archived: true });
  await leave(visit);
});
