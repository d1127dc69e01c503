import { createClient } from '@natter/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onePixel } from '../one-pixel.ts';
import { checkLook, openDialog } from '../web-look.ts';
import { leave, message, openWeb, type Web } from '../web-visit.ts';

/** Administration with the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const hostile = '<img src=x onerror=alert(1)>';

/** The permissions and settings of the organization, as another client reads them. */
const realmOf = async () =>
  (await web.clientOf('owner').register({ fetch_event_types: ['realm'] })) as unknown as Record<string, unknown>;

test('an administrator grants permissions to a group and to single users', async () => {
  const visit = await web.visit('owner');
  const { page } = visit;
  const dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name: 'Permissions' }).click();
  const field = dialog.getByLabel('Create groups', { exact: true });
  await field.selectOption('Moderators');
  await dialog.getByText('Saved.').waitFor();
  const groups = (await web.clientOf('owner').getUserGroups()).user_groups;
  const moderators = groups.find(({ name }) => name === 'role:moderators');
  await expect.poll(async () => (await realmOf()).realm_can_create_groups).toBe(moderators?.id);
  await field.selectOption('Certain people and groups');
  const { full_name, user_id } = web.system.people.member;
  const person = dialog.getByLabel('Add a person or group: Create groups');
  await person.fill(full_name);
  await person.press('Enter');
  await dialog.getByRole('button', { name: 'Save Create groups' }).click();
  await expect
    .poll(async () => (await realmOf()).realm_can_create_groups)
    .toEqual({ direct_members: [user_id], direct_subgroups: [moderators?.id] });
  await checkLook(page);
  await dialog.getByRole('button', { name: 'General' }).click();
  await dialog.getByLabel('Time to edit a message').selectOption('1 hour');
  await expect.poll(async () => (await realmOf()).realm_message_content_edit_limit_seconds).toBe(3_600);
  await dialog.getByLabel('People may not change their names').click();
  await expect.poll(async () => (await realmOf()).realm_name_changes_disabled).toBe(true);
  await checkLook(page);
  await leave(visit);
});

test('a user creates a group, adds members, sets who may join, and deactivates it', async () => {
  const makers = { direct_members: [web.system.people.member.user_id], direct_subgroups: [] };
  await web.clientOf('owner').updateRealm({ can_create_groups: { new: makers } });
  const visit = await web.visit('member');
  const { page } = visit;
  const dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name: 'Groups' }).click();
  await dialog.locator('[aria-current=page]', { hasText: 'Groups' }).waitFor();
  expect(await dialog.getByRole('button', { name: 'Permissions' }).count()).toBe(0);
  await dialog.getByRole('button', { name: 'New group' }).click();
  await dialog.getByLabel('Name of the group').fill(hostile);
  await dialog.getByLabel('What the group is for').fill('They build');
  await dialog.getByRole('button', { name: 'Create the group' }).click();
  const members = dialog.getByRole('list', { name: `Members of ${hostile}` });
  await members.waitFor();
  const { full_name, user_id } = web.system.people.member2;
  const add = dialog.getByLabel('Add a person or group', { exact: true });
  await add.fill(full_name);
  await add.press('Enter');
  await members.getByText(full_name, { exact: true }).waitFor();
  await dialog.getByLabel('Join the group').selectOption('Members');
  await dialog.getByText('Saved.').waitFor();
  await checkLook(page);
  const group = async () =>
    (await web.clientOf('owner').getUserGroups()).user_groups.find(({ name }) => name === hostile);
  await expect.poll(async () => (await group())?.members).toContain(user_id);
  await dialog.getByRole('button', { name: `Remove ${full_name}` }).click();
  await members.getByText(full_name, { exact: true }).waitFor({ state: 'detached' });

  const other = await web.visit('member2');
  const theirs = await openDialog(other.page, 'Organization');
  await theirs.getByRole('button', { name: 'Groups' }).click();
  await theirs.getByRole('button', { name: `Details of ${hostile}` }).click();
  await theirs.getByRole('button', { name: `Join ${hostile}` }).click();
  await theirs.getByRole('button', { name: `Leave ${hostile}` }).waitFor();
  await expect.poll(async () => (await group())?.members).toContain(user_id);
  expect(await theirs.getByRole('button', { name: `Deactivate ${hostile}` }).count()).toBe(0);
  await leave(other);

  await dialog.getByRole('button', { name: `Deactivate ${hostile}` }).click();
  await dialog.getByRole('button', { name: `Deactivate ${hostile}` }).click();
  await dialog.getByText('There are no groups yet.').waitFor();
  await leave(visit);
});

test('an administrator sees the state of the services, and a member neither that nor roles above the own', async () => {
  const visit = await web.visit('owner');
  const { page } = visit;
  const dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name: 'Server', exact: true }).click();
  await dialog.getByText('All services answer.').waitFor();
  const rows = dialog.getByRole('table', { name: 'Services' }).getByRole('row');
  expect(await rows.count()).toBe(8);
  const channels = rows.filter({ has: page.getByRole('rowheader', { name: 'channels' }) });
  await channels.getByRole('cell', { name: 'Answers' }).waitFor();
  await dialog
    .getByRole('definition')
    .nth(2)
    .getByText(/^[1-9]\d*$/)
    .waitFor();
  await checkLook(page);
  const stopped = web.system.children.find(({ program }) => program === 'channels');
  const refresh = dialog.getByRole('button', { name: 'Refresh' });
  stopped?.kill('SIGSTOP');
  try {
    await refresh.click();
    await dialog.getByRole('status').getByText('No answer from: channels').waitFor();
    await channels.getByRole('cell', { name: 'No answer' }).waitFor();
    await checkLook(page);
  } finally {
    stopped?.kill('SIGCONT');
  }
  // The page refreshes after half a minute without the button.
  await dialog.getByText('All services answer.').waitFor();
  await page.route('**/json/server/status', (route) => route.abort());
  await refresh.click();
  await dialog.locator('.outcome.alarm').waitFor();
  await channels.waitFor();
  await leave(visit);

  const other = await web.visit('member');
  const theirs = await openDialog(other.page, 'Organization');
  await theirs.getByRole('button', { name: 'Groups' }).waitFor();
  expect(await theirs.getByRole('button', { name: 'Server', exact: true }).count()).toBe(0);
  const offered = theirs.getByLabel('Invite as').getByRole('option');
  await expect.poll(() => offered.allTextContents()).toEqual(['Member', 'Guest']);
  await leave(other);
});

test('users are invited by mail, and rejected addresses are listed', async () => {
  const visit = await web.visit('owner');
  const { page } = visit;
  const dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name: 'Invitations' }).click();
  await dialog.getByText('There are none.').waitFor();
  const { email } = web.system.people.member2;
  await dialog.getByLabel(/^Email addresses/).fill(`new@example.com, ${email}`);
  await dialog.getByLabel('Invite as').selectOption('Moderator');
  await dialog.getByRole('button', { name: 'Send invitations' }).click();
  await dialog.getByText(`${email}:`).waitFor();
  const mail = await web.mails.next('new@example.com');
  expect(mail.link).toMatch(/\/(join|accounts\/do_confirm)\//);
  const open = dialog.getByRole('listitem').filter({ hasText: 'new@example.com' });
  await open.getByText('Moderator, until').waitFor();
  await checkLook(page);
  await open.getByRole('button', { name: 'Send again' }).click();
  await web.mails.next('new@example.com');
  await open.getByRole('button', { name: 'Revoke' }).click();
  await open.waitFor({ state: 'detached' });
  await leave(visit);
});

test('an emoji and a linkifier of the organization are used in messages', async () => {
  const visit = await web.visit('owner', web.topicPath('made%20here'));
  const { page } = visit;
  let dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name: 'Emoji' }).click();
  await dialog.getByText('Nobody has added an emoji yet.').waitFor();
  await dialog
    .getByLabel('Picture')
    .setInputFiles({ name: 'Party Parrot.png', mimeType: 'image/png', buffer: onePixel });
  await expect.poll(() => dialog.getByLabel('Name of the emoji').inputValue()).toBe('party_parrot');
  await dialog.getByRole('button', { name: 'Add the emoji' }).click();
  await dialog.getByText(':party_parrot:').waitFor();
  await checkLook(page);
  await dialog.getByRole('button', { name: 'Linkifiers' }).click();
  await dialog.getByText('There are no linkifiers yet.').waitFor();
  const add = async (pattern: string, address: string): Promise<void> => {
    await dialog.getByLabel(/^Pattern/).fill(pattern);
    await dialog.getByLabel(/^Address/).fill(address);
    await dialog.getByRole('button', { name: 'Add the linkifier' }).click();
  };
  await add('#(?P<id>[0-9]+)', 'https://tickets.example.com/{id}');
  await dialog.getByText('https://tickets.example.com/{id}').waitFor();
  await add('broken(', 'https://example.com/');
  await dialog.locator('.outcome.alarm').waitFor();
  await add('CVE-(?P<id>[0-9-]+)', 'https://cve.example.com/{id}');
  await dialog.getByRole('button', { name: /^Up CVE/ }).click();
  await dialog.getByText('The order is changed.').waitFor();
  const patterns = async () => (await web.clientOf('owner').getLinkifiers()).linkifiers.map(({ pattern }) => pattern);
  await expect.poll(patterns).toEqual(['CVE-(?P<id>[0-9-]+)', '#(?P<id>[0-9]+)']);
  await checkLook(page);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.locator('#compose').fill('Look at #123 :party_parrot:');
  await page.locator('#compose').press('Enter');
  const sent = message(page, 'Look at');
  await sent.locator('a[href="https://tickets.example.com/123"]').waitFor();
  await sent.locator('img.emoji').waitFor();
  dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name: 'Linkifiers' }).click();
  for (let click = 0; click < 2; click++) await dialog.getByRole('button', { name: /^Remove CVE/ }).click();
  await expect.poll(patterns).toEqual(['#(?P<id>[0-9]+)']);
  await dialog.getByRole('button', { name: 'Emoji' }).click();
  for (let click = 0; click < 2; click++) await dialog.getByRole('button', { name: 'Remove party_parrot' }).click();
  await dialog.getByText('Nobody has added an emoji yet.').waitFor();
  await leave(visit);
});

test('a bot is created, sends with its key, gets a new key, and is deactivated', async () => {
  const visit = await web.visit('member');
  const { page } = visit;
  const dialog = await openDialog(page, 'Settings');
  await dialog.getByRole('button', { name: 'Bots' }).click();
  await dialog.getByText('You have no bots.').waitFor();
  await dialog.getByLabel('Name of the bot').fill('Weather');
  await dialog.getByLabel(/^First part of its address/).fill('weather');
  await dialog.getByRole('button', { name: 'Create the bot' }).click();
  await dialog.getByRole('button', { name: 'Show the key of Weather' }).click();
  const key = dialog.getByLabel('API key of Weather');
  await expect.poll(() => key.inputValue()).not.toBe('');
  const email = (await dialog.getByText(/^weather-bot@/).textContent()) ?? '';
  const first = await key.inputValue();
  const bot = (apiKey: string) => createClient({ url: web.system.url, email, apiKey });
  const to = { type: 'channel' as const, to: web.general, topic: 'weather', content: 'It rains' };
  await bot(first).sendMessage(to);
  await checkLook(page);
  const renew = dialog.getByRole('button', { name: 'Make a new key for Weather' });
  await renew.click();
  await renew.click();
  await dialog.getByText('Older keys have ended.').waitFor();
  await expect.poll(() => key.inputValue()).not.toBe(first);
  await bot(await key.inputValue()).sendMessage(to);
  await expect(bot(first).sendMessage(to)).rejects.toThrow();
  const end = dialog.getByRole('button', { name: 'Deactivate Weather' });
  await end.click();
  await end.click();
  await dialog.getByText('You have no bots.').waitFor();
  await leave(visit);
});

test('a profile field is created, filled in, and shown to other users', async () => {
  const admin = await web.visit('owner');
  let dialog = await openDialog(admin.page, 'Organization');
  await dialog.getByRole('button', { name: 'Profile fields' }).click();
  await dialog.getByText('There are no profile fields yet.').waitFor();
  const add = async (kind: string, name: string): Promise<void> => {
    await dialog.getByLabel('Kind of field').selectOption(kind);
    await dialog.getByLabel('Name of the field').fill(name);
    if (kind === 'One of several options') await dialog.getByLabel(/^Options/).fill('Kitchen\nGarden');
    await dialog.getByRole('button', { name: 'Add the field' }).click();
    await dialog.getByRole('button', { name: `Change ${name}` }).waitFor();
  };
  await add('Short text', 'Nickname');
  await add('One of several options', 'Workplace');
  await add('People', 'Reports to');
  await dialog.getByLabel('Kind of field').selectOption('Account elsewhere');
  await dialog.getByRole('button', { name: 'Add the field' }).click();
  await dialog.getByRole('button', { name: 'Change GitHub username' }).waitFor();
  await dialog.getByRole('button', { name: 'Change Workplace' }).click();
  await checkLook(admin.page);
  await leave(admin);

  const mia = await web.visit('member2');
  dialog = await openDialog(mia.page, 'Settings');
  await dialog.getByLabel('Nickname').fill(hostile);
  await dialog.getByLabel('Workplace').selectOption('Garden');
  await dialog.getByLabel('GitHub username').fill('mia');
  const boss = dialog.getByLabel('Add to Reports to');
  await boss.fill(web.system.people.owner.full_name);
  await boss.press('Enter');
  await checkLook(mia.page);
  await dialog.getByRole('button', { name: 'Save the profile' }).click();
  await dialog.getByText('Your profile is saved.').waitFor();
  await leave(mia);

  const topic = { type: 'channel' as const, to: web.general, topic: 'profiles' };
  await web.clientOf('member2').sendMessage({ ...topic, content: 'Who am I?' });
  const visit = await web.visit('member', web.topicPath('profiles'));
  await message(visit.page, 'Who am I?').focus();
  await visit.page.keyboard.press('u');
  const card = visit.page.getByRole('dialog', { name: web.system.people.member2.full_name });
  await card.getByText('Garden').waitFor();
  await card.getByRole('paragraph').filter({ hasText: hostile }).waitFor();
  await card.getByText(web.system.people.owner.full_name).waitFor();
  expect(await card.getByRole('link', { name: 'mia' }).getAttribute('href')).toBe('https://github.com/mia');
  await checkLook(visit.page);
  await card.getByRole('button', { name: 'Write a direct message' }).click();
  await visit.page.waitForURL(`**/dm/${web.system.people.member2.user_id}`);
  await leave(visit);
});

/** A section of the organization, which an administrator opened. */
async function openSection(page: Page, name: string) {
  const dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name, exact: true }).click();
  return dialog;
}

/** The browsers of an owner, and of an administrator who is no owner, in the same section. */
async function twoAdministrators(section: string) {
  const [owner, other] = [await web.visit('owner'), await web.visit('member2')];
  const [theirs, others] = [await openSection(owner.page, section), await openSection(other.page, section)];
  const leaveBoth = async (): Promise<void> => {
    await leave(owner);
    await leave(other);
  };
  return { page: owner.page, theirs, others, leaveBoth };
}

const promote = () =>
  web.clientOf('owner').updateUser({ user_id_or_email: String(web.system.people.member2.user_id), role: 200 });

test('an administrator chooses channels and pictures of the organization, and another one sees them', async () => {
  await promote();
  const client = web.clientOf('owner');
  const { id } = await client.createChannel({ name: 'arrivals', subscribers: [web.system.people.owner.user_id] });
  const { page, theirs, others, leaveBoth } = await twoAdministrators('Channels for newcomers');
  await theirs.getByLabel('Public channel').selectOption('arrivals');
  await theirs.getByRole('button', { name: 'Add the channel' }).click();
  await theirs.getByText('The channel is added.').waitFor();
  const seen = others.getByRole('listitem').filter({ hasText: '#arrivals' });
  await seen.waitFor();
  await checkLook(page);
  const defaults = async () =>
    (
      (await client.register({ fetch_event_types: ['default_streams'], event_types: [] })) as unknown as {
        realm_default_streams: number[];
      }
    ).realm_default_streams;
  await expect.poll(defaults).toContain(id);
  for (let click = 0; click < 2; click++) await theirs.getByRole('button', { name: 'Remove arrivals' }).click();
  await seen.waitFor({ state: 'detached' });
  expect(await defaults()).not.toContain(id);

  for (const dialog of [theirs, others]) await dialog.getByRole('button', { name: 'Icon and logos' }).click();
  const file = { name: 'logo.png', mimeType: 'image/png', buffer: onePixel };
  for (const [name, path] of [
    ['Icon of the organization', '/user_avatars/realm/icon?'],
    ['Logo for light colors', '/user_avatars/realm/logo?'],
    ['Logo for dark colors', '/user_avatars/realm/night_logo?'],
  ] as const) {
    const sources = () =>
      Promise.all([theirs, others].map((dialog) => dialog.getByRole('img', { name }).getAttribute('src')));
    const group = theirs.getByRole('group', { name });
    await group.getByLabel('New picture').setInputFiles({ ...file, buffer: Buffer.from('no picture') });
    await group.getByText('Invalid image format').waitFor();
    await group.getByLabel('New picture').setInputFiles(file);
    await expect.poll(sources).toEqual([expect.stringContaining(path), expect.stringContaining(path)]);
    for (let click = 0; click < 2; click++)
      await group.getByRole('button', { name: `Use the picture of the server: ${name}` }).click();
    const ofServer = expect.stringContaining('/static/natter-');
    await expect.poll(sources).toEqual([ofServer, ofServer]);
  }
  await checkLook(page);
  await leaveBoth();
});

test('an owner allows domains, an administrator adds playgrounds, and both see them', async () => {
  await promote();
  const { page, theirs, others, leaveBoth } = await twoAdministrators('Allowed domains');
  await others.getByText('Only owners change the domains.').waitFor();
  const domain = theirs.getByLabel(/^Domain, such as/);
  const add = theirs.getByRole('button', { name: 'Add the domain' });
  await domain.fill('localhost');
  await add.click();
  const reason = theirs.getByText(/^Invalid domain/);
  await reason.waitFor();
  expect(await domain.getAttribute('aria-describedby')).toBe(await reason.getAttribute('id'));
  await checkLook(page);
  await domain.fill('Example.com');
  await theirs.getByLabel('Also its subdomains').check();
  await add.click();
  const subdomains = others.getByLabel('Subdomains of example.com');
  await expect.poll(() => subdomains.isChecked()).toBe(true);
  expect([await subdomains.isDisabled(), await others.getByLabel(/^Domain, such as/).count()]).toEqual([true, 0]);
  await theirs.getByLabel('Subdomains of example.com').click();
  await expect.poll(() => subdomains.isChecked()).toBe(false);
  const restricts = others.getByLabel('Only addresses of these domains may join');
  expect(await restricts.isDisabled()).toBe(true);
  await theirs.getByLabel('Only addresses of these domains may join').click();
  await expect.poll(() => restricts.isChecked()).toBe(true);
  await checkLook(page);
  for (let click = 0; click < 2; click++) await theirs.getByRole('button', { name: 'Remove example.com' }).click();
  await others.getByText('There are no domains yet.').waitFor();
  await expect.poll(() => restricts.isChecked()).toBe(false);

  for (const dialog of [theirs, others]) await dialog.getByRole('button', { name: 'Code playgrounds' }).click();
  const address = others.getByLabel(/^Address, such as/);
  await others.getByLabel('Name of the playground').fill(hostile);
  await others.getByLabel('Language of the code').fill('Python');
  await address.fill('https://play.example.com/');
  await others.getByRole('button', { name: 'Add the playground' }).click();
  await others.getByText(/^Missing the required variable "code"/).waitFor();
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  await address.fill('https://play.example.com/?code={code}');
  await others.getByRole('button', { name: 'Add the playground' }).click();
  const playground = theirs.getByRole('listitem').filter({ hasText: hostile });
  await playground.getByText('https://play.example.com/?code={code}').waitFor();
  await checkLook(page);
  for (let click = 0; click < 2; click++) await theirs.getByRole('button', { name: `Remove ${hostile}` }).click();
  await others.getByText('There are no playgrounds yet.').waitFor();
  await leaveBoth();
});
