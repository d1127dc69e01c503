import { createClient } from '@natter/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { openDialog } from '../web-look.ts';
import { openWeb, type Visit, type Web } from '../web-visit.ts';

/** Settings, channels and the organization with the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

async function leave({ page, faults }: Visit): Promise<void> {
  expect(faults).toEqual([]);
  await page.context().close();
}

test('a person changes their name, notifications, colors, picture and password', async () => {
  const { email, password } = web.system.people.member2;
  const visit = await web.visit('member2');
  const { page } = visit;
  const dialog = await openDialog(page, 'Settings');
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByLabel('Name', { exact: true }).fill('Mia Renamed');
  await dialog.getByRole('button', { name: 'Save the name' }).click();
  await page.locator('.account', { hasText: 'Mia Renamed' }).waitFor({ state: 'attached' });
  const picture = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  await dialog.getByLabel('New picture').setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: picture });
  await dialog.getByText('The picture is changed.').waitFor();
  await dialog.getByRole('img', { name: 'You, as others see you' }).waitFor();
  await dialog.getByLabel('Current password').fill(password);
  await dialog.getByLabel('New password').fill('another secret of mine');
  await dialog.getByRole('button', { name: 'Change the password' }).click();
  await dialog.getByText('The password is changed.').waitFor();
  await dialog.getByRole('button', { name: 'Appearance' }).click();
  await dialog.getByLabel('Dark', { exact: true }).check();
  await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Notifications' }).click();
  const sounds = dialog.getByLabel('Play a sound with notifications');
  await sounds.click();
  await expect.poll(() => sounds.isChecked()).toBe(false);
  await dialog.getByText('Saved.').waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Access' }).click();
  await dialog.getByRole('button', { name: 'Make a new API key' }).click();
  await dialog.getByRole('button', { name: 'End the others and make a key' }).click();
  const shownKey = dialog.getByLabel('Your API key. It is not shown again.');
  await expect.poll(() => shownKey.inputValue()).not.toBe('');
  const apiKey = await shownKey.inputValue();
  const settings = await createClient({ url: web.system.url, email, apiKey }).register({
    fetch_event_types: ['user_settings'],
    client_capabilities: { user_settings_object: true },
  });
  expect(settings).toMatchObject({ user_settings: { enable_sounds: false } });
  await dialog.getByRole('button', { name: 'Log out everywhere' }).click();
  await page.waitForURL('**/accounts/login*');
  await leave(visit);
});

test('a person finds, creates, joins and arranges channels', async () => {
  const visit = await web.visit('member');
  const { page } = visit;
  const name = '<img src=x onerror=alert(1)>';
  await web.clientOf('owner').createChannel({
    name,
    subscribers: [web.system.people.owner.user_id],
    description: 'From **others**',
  });
  let dialog = await openDialog(page, 'Channels');
  await dialog.getByRole('button', { name: `Subscribe ${name}` }).click();
  await dialog.getByRole('button', { name: `Unsubscribe ${name}` }).waitFor();
  const card = dialog.getByRole('listitem').filter({ hasText: name });
  await card.getByLabel('Pinned').click();
  await expect.poll(() => card.getByLabel('Pinned').isChecked()).toBe(true);
  await card.getByLabel('Muted').click();
  await expect.poll(() => card.getByLabel('Muted').isChecked()).toBe(true);
  await card.getByLabel('Color').fill('#112233');
  await card.getByLabel('Color').blur();
  const own = async () =>
    (await web.clientOf('member').getSubscriptions()).subscriptions.find((one) => one.name === name) as unknown;
  await expect.poll(own).toMatchObject({ pin_to_top: true, is_muted: true, color: '#112233' });
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: `Unsubscribe ${name}` }).click();
  await dialog.getByRole('button', { name: `Subscribe ${name}`, exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'New channel' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('made here');
  await dialog.getByLabel(/^Private/).check();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  // The feed may link to the channel too, from the notice of its creation.
  await page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'made here' }).waitFor();
  dialog = await openDialog(page, 'Channels');
  await dialog.getByLabel('Find channels').fill('made');
  await dialog.getByText('Private', { exact: true }).waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await findingsOf(page)).toEqual([]);
  const isWide = () =>
    page.evaluate(
      `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.modal-body'))`,
    );
  await expect.poll(isWide).toBe(false);
  await leave(visit);
});

test('an administrator names the organization, invites, gives roles and deactivates', async () => {
  const visit = await web.visit('owner');
  const { page } = visit;
  const dialog = await openDialog(page, 'Organization');
  await dialog.getByLabel('Name of the organization').fill('Renamed organization');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('.realm', { hasText: 'Renamed organization' }).waitFor({ state: 'attached' });
  await dialog.getByRole('button', { name: 'Invitations' }).click();
  await dialog.getByRole('button', { name: 'New invitation link' }).click();
  const link = dialog.getByLabel('Invitation link');
  await expect.poll(() => link.inputValue()).toContain(`${web.system.url}/join/`);
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await link.waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'People', exact: true }).click();
  const { full_name, user_id } = web.system.people.guest;
  await dialog.getByLabel('Find people to change').fill(full_name);
  await dialog.getByLabel(`Role of ${full_name}`).selectOption('Member');
  await dialog.getByText('The role is changed.').waitFor();
  const guest = async () => (await web.clientOf('owner').getUser({ user_id_or_email: String(user_id) })).user;
  await expect.poll(guest).toMatchObject({ role: 400 });
  await dialog.getByRole('button', { name: `Deactivate ${full_name}` }).click();
  await dialog.getByRole('button', { name: `Deactivate ${full_name}` }).click();
  await dialog.getByLabel(`Role of ${full_name}`).waitFor({ state: 'detached' });
  await expect.poll(guest).toMatchObject({ is_active: false });
  await dialog.getByText('Deactivated people').click();
  await dialog.getByRole('button', { name: `Reactivate ${full_name}` }).click();
  await dialog.getByLabel(`Role of ${full_name}`).waitFor();
  await expect.poll(guest).toMatchObject({ is_active: true });
  await leave(visit);
});
