import { readFile } from 'node:fs/promises';
import { createClient } from '@natter/client';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { onePixel } from '../one-pixel.ts';
import { checkLook, openDialog } from '../web-look.ts';
import { leave, openWeb, type Web } from '../web-visit.ts';

/** Settings, channels and the organization with the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const picture = {
  name: 'me.png',
  mimeType: 'image/png',
  buffer: onePixel,
};

test('a person changes their name, notifications, colors, picture and password', async () => {
  const { email, password } = web.system.people.member2;
  const visit = await web.visit('member2');
  const { page } = visit;
  const dialog = await openDialog(page, 'Settings');
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByLabel('Name', { exact: true }).fill('Mia Renamed');
  await dialog.getByRole('button', { name: 'Save the name' }).click();
  await page.locator('.account', { hasText: 'Mia Renamed' }).waitFor({ state: 'attached' });
  await dialog.getByLabel('New picture').setInputFiles(picture);
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
  await dialog.getByRole('button', { name: 'Details of made here', expanded: true }).waitFor();
  await dialog.getByRole('button', { name: 'New channel', expanded: false }).waitFor();
  await page.keyboard.press('Escape');
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

test('an administrator names the organization, invites users, changes roles and deactivates users', async () => {
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

/** The bots of an organization or a person, in a dialog of theirs. */
async function openBots(page: Page, name: 'Settings' | 'Organization') {
  const dialog = await openDialog(page, name);
  await dialog.getByRole('button', { name: 'Bots', exact: true }).click();
  return dialog;
}

/** A bot, as another client of its owner reads it. */
async function botOf(name: 'owner' | 'member', id: number) {
  const answer = await web.clientOf(name).register({ fetch_event_types: ['realm_bot'], event_types: [] });
  const { realm_bots } = answer as unknown as { realm_bots: Record<string, unknown>[] };
  return realm_bots.find(({ user_id }) => user_id === id);
}

test('a user creates an outgoing webhook bot with a picture, and a rejected address is shown at its field', async () => {
  const visit = await web.visit('member');
  const { page } = visit;
  const dialog = await openBots(page, 'Settings');
  await dialog.getByLabel('Name of the bot').fill('Caller');
  await dialog.getByLabel(/^First part of its address/).fill('caller');
  await dialog.getByLabel('Kind').selectOption('Is called at an address when somebody writes to it');
  const address = dialog.getByLabel('Address that is called');
  await address.fill('ftp://bots.example.com/');
  await dialog.getByLabel('Form of the calls').selectOption('Form, as for Slack');
  await dialog.getByLabel('Picture of the bot').setInputFiles(picture);
  await dialog.getByRole('button', { name: 'Create the bot' }).click();
  const reason = dialog.getByText('payload_url is not a URL');
  await reason.waitFor();
  const isOfField = `document.activeElement.getAttribute('aria-describedby') === '${await reason.getAttribute('id')}'`;
  await expect.poll(() => page.evaluate(isOfField)).toBe(true);
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  await checkLook(page);
  await address.fill('https://bots.example.com/one');
  await dialog.getByRole('button', { name: 'Create the bot' }).click();
  const card = dialog.getByRole('listitem').filter({ hasText: 'caller-bot@' });
  await card.waitFor();
  await expect.poll(() => card.locator('img').getAttribute('src')).toMatch(/^\/user_avatars\//);
  const { user_id } = (await web.clientOf('owner').getUsers({})).members.find((one) => one.full_name === 'Caller') ?? {
    user_id: 0,
  };
  expect(await botOf('member', user_id)).toMatchObject({
    services: [{ base_url: 'https://bots.example.com/one', interface: 2 }],
  });
  await leave(visit);
});

/** A bot of the person that is called, made with the API. */
async function makeBot(short_name: string, full_name: string): Promise<number> {
  const form = { full_name, short_name, bot_type: 3, payload_url: 'https://bots.example.com/one' };
  return (await web.clientOf('member').createBot(form)).user_id;
}

const cardOf = (dialog: Locator, address: string) => dialog.getByRole('listitem').filter({ hasText: address });

test('a person changes a bot, copies its key, and downloads a file with it', async () => {
  const id = await makeBot('second', 'Second');
  const visit = await web.visit('member');
  const { page } = visit;
  const card = cardOf(await openBots(page, 'Settings'), 'second-bot@');
  await card.getByRole('button', { name: 'Change Second' }).click();
  await card.getByLabel('Name of the bot').fill('Renamed');
  await card.getByLabel('Address that is called').fill('https://bots.example.com/two');
  await card.getByLabel('Form of the calls').selectOption('Form, as for Slack');
  await card.getByLabel('Channel for its messages').selectOption('general');
  await card.getByLabel('Channel whose events it gets').selectOption('general');
  await card.getByLabel('It gets the messages of all public channels').check();
  await card.getByRole('button', { name: 'Save the bot' }).click();
  await card.getByText('Saved.').waitFor();
  await card.getByText('Renamed', { exact: true }).waitFor();
  await expect
    .poll(() => botOf('member', id))
    .toMatchObject({
      full_name: 'Renamed',
      default_sending_stream: 'general',
      default_events_register_stream: 'general',
      default_all_public_streams: true,
      services: [{ base_url: 'https://bots.example.com/two', interface: 2 }],
    });
  await card.getByText('Token of the calls').first().click();
  const services = (await botOf('member', id))?.services as { token: string }[];
  expect(await card.getByLabel('Token of the calls').inputValue()).toBe(services[0]?.token);
  await card.getByRole('button', { name: 'Show the key of Renamed' }).click();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: web.system.url });
  await card.getByRole('button', { name: 'Copy the key of Renamed' }).click();
  await card.getByText('Copied.').waitFor();
  const { api_key } = await web.clientOf('member').getBotApiKey({ bot_id: id });
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(api_key);
  await checkLook(page);
  const downloads = page.waitForEvent('download');
  await card.getByRole('button', { name: 'Download zuliprc of Renamed' }).click();
  const file = await downloads;
  expect(file.suggestedFilename()).toBe('zuliprc');
  const text = await readFile(await file.path(), 'utf8');
  const [, email = '', apiKey = '', site = ''] = /^\[api\]\nemail=(.+)\nkey=(.+)\nsite=(.+)\n$/.exec(text) ?? [];
  const bot = createClient({ url: site, email, apiKey });
  expect((await bot.getOwnUser()).full_name).toBe('Renamed');
  await leave(visit);
});

test('an administrator changes the owner of a bot, and the former owner does not see it any more', async () => {
  const id = await makeBot('third', 'Third');
  const visit = await web.visit('member');
  const card = cardOf(await openBots(visit.page, 'Settings'), 'third-bot@');
  await card.waitFor();
  const { api_key: apiKey } = await web.clientOf('member').getBotApiKey({ bot_id: id });
  const thirdOf = async () => (await web.clientOf('owner').getUser({ user_id_or_email: String(id) })).user;
  const bot = createClient({ url: web.system.url, email: (await thirdOf()).email, apiKey });
  await bot.getOwnUser();
  const admin = await web.visit('owner');
  const all = await openBots(admin.page, 'Organization');
  await all.getByLabel('Find bots').fill('third-bot');
  await all.getByRole('button', { name: 'Change Third' }).click();
  await all.getByLabel('Role').selectOption('Guest');
  await all.getByRole('button', { name: 'Save the bot' }).click();
  await all.getByText('Saved.').waitFor();
  const owner = all.getByLabel('Owner of the bot');
  await owner.fill(web.system.people.owner.full_name);
  await owner.press('Enter');
  await all.getByText('With another owner, the bot gets a new key.').waitFor();
  await all.getByText('With another owner, the bot has no address until the new owner enters one.').waitFor();
  await checkLook(admin.page);
  await all.getByRole('button', { name: 'Save the bot' }).click();
  await card.waitFor({ state: 'detached' });
  await expect.poll(() => botOf('owner', id)).toMatchObject({ owner_id: web.system.people.owner.user_id });
  expect((await thirdOf()).role).toBe(600);
  const missing = all.getByText('No messages are posted to this bot: the address that is called is missing.');
  await missing.waitFor();
  await checkLook(admin.page);
  await all.getByLabel('Address that is called').fill('https://bots.example.com/three');
  await all.getByRole('button', { name: 'Save the bot' }).click();
  await missing.waitFor({ state: 'detached' });
  expect(await botOf('owner', id)).toMatchObject({ services: [{ base_url: 'https://bots.example.com/three' }] });
  await expect(bot.getOwnUser()).rejects.toThrow();
  for (let click = 0; click < 2; click++) await all.getByRole('button', { name: 'Deactivate Third' }).click();
  await all.getByText('Third is deactivated.').waitFor();
  await all.getByText('Deactivated bots').click();
  await checkLook(admin.page);
  await all.getByRole('button', { name: 'Reactivate Third' }).click();
  await all.getByRole('button', { name: 'Deactivate Third' }).waitFor();
  await leave(admin);
  await leave(visit);
});

test('a user is offered only the kinds of bots that they may create, even after a change', async () => {
  const visit = await web.visit('member');
  const dialog = await openBots(visit.page, 'Settings');
  const kind = dialog.getByLabel('Kind');
  const kinds = () => kind.locator('option').allTextContents();
  await expect.poll(async () => (await kinds()).length).toBe(3);
  const owner = web.clientOf('owner');
  const groups = (await owner.getUserGroups()).user_groups;
  const [nobody = 0, members = 0] = ['role:nobody', 'role:members'].map(
    (wanted) => groups.find(({ name }) => name === wanted)?.id,
  );
  await owner.updateRealm({ can_create_bots_group: { new: nobody } });
  await expect.poll(kinds).toEqual(['Only sends messages']);
  await dialog.getByLabel('Name of the bot').fill('Hook');
  await dialog.getByLabel(/^First part of its address/).fill('hook');
  await dialog.getByRole('button', { name: 'Create the bot' }).click();
  await dialog.getByRole('listitem').filter({ hasText: 'hook-bot@' }).getByText('Only sends messages').waitFor();
  await owner.updateRealm({ can_create_write_only_bots_group: { new: nobody } });
  await kind.waitFor({ state: 'detached' });
  await owner.updateRealm({
    can_create_bots_group: { new: members },
    can_create_write_only_bots_group: { new: members },
  });
  await kind.waitFor();
  await leave(visit);
});

test('messages on screen stay unread where a person chose so', async () => {
  const member = web.clientOf('member');
  await web.clientOf('owner').sendMessage({ type: 'channel', to: web.general, topic: 'unread', content: 'Keep me' });
  await member.markAllRead();
  const visit = await web.visit('member', '/inbox');
  const { page } = visit;
  const dialog = await openDialog(page, 'Settings');
  await dialog.getByRole('button', { name: 'Reading and writing' }).click();
  const choice = (name: string) => dialog.getByRole('radio', { name, exact: true });
  expect(await choice('In all lists of messages').isChecked()).toBe(true);
  await choice('In all lists of messages').focus();
  await page.keyboard.press('ArrowDown');
  await dialog.getByText('Saved.').waitFor();
  await expect.poll(() => choice('In topics and direct messages only').isChecked()).toBe(true);
  // The choice keeps the focus.
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => choice('Never').isChecked()).toBe(true);
  await checkLook(page);
  await page.keyboard.press('Escape');
  const { id } = await web
    .clientOf('owner')
    .sendMessage({ type: 'channel', to: web.general, topic: 'unread', content: 'Not yet read' });
  await page.goto(web.system.url + web.topicPath('unread'));
  const shown = page.locator(`[data-message="${id}"]`);
  await shown.waitFor();
  const flags = async () => (await member.getMessage({ message_id: id })).message.flags;
  // Longer than the page collects messages before it marks them as read.
  await page.waitForTimeout(1_000);
  expect(await flags()).toEqual([]);
  await member.updateSettings({ web_mark_read_on_scroll_policy: 1 });
  await expect.poll(flags).toEqual(['read']);
  await leave(visit);
});

test('an administrator reads the settings and permissions of owners, and cannot change them', async () => {
  const { user_id, full_name } = web.system.people.moderator;
  await web.clientOf('owner').updateUser({ user_id_or_email: String(user_id), role: 200 });
  const holders = { direct_members: [user_id], direct_subgroups: [] };
  await web.clientOf('owner').updateRealm({ can_create_groups: { new: holders } });
  for (const [who, isFixed] of [
    ['owner', false],
    ['moderator', true],
  ] as const) {
    const visit = await web.visit(who);
    const dialog = await openDialog(visit.page, 'Organization');
    const isDisabled = (label: string) => dialog.getByLabel(label, { exact: true }).isDisabled();
    await dialog.getByRole('button', { name: 'Permissions' }).click();
    expect([await isDisabled('Create groups'), await isDisabled('Add emoji')]).toEqual([isFixed, false]);
    await dialog.getByRole('list', { name: 'Who may: Create groups' }).getByText(full_name).first().waitFor();
    const fields = dialog.getByLabel('Add a person or group: Create groups');
    const buttons = dialog.getByRole('button', { name: `Remove ${full_name}` });
    expect([await fields.count(), await buttons.count()]).toEqual(isFixed ? [0, 0] : [1, 1]);
    await dialog.getByRole('button', { name: 'General' }).click();
    expect(await isDisabled('Only invited people may join')).toBe(isFixed);
    expect(await isDisabled('People may not change their names')).toBe(false);
    await leave(visit);
  }
});
