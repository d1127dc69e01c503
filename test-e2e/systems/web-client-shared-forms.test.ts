import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLook, openDialog } from '../web-look.ts';
import { leave, message, openWeb, type PersonName, type Visit, type Web } from '../web-visit.ts';

/** Forms of the web client, in Chromium, while somebody else changes the same thing by the API. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const owner = () => web.clientOf('owner');
const makeChannel = (name: string) =>
  owner().createChannel({ name, subscribers: [web.system.people.owner.user_id], invite_only: false });

/** A section of the organization, which an owner opened. */
async function openSection(name: string) {
  const visit = await web.visit('owner');
  const dialog = await openDialog(visit.page, 'Organization');
  await dialog.getByRole('button', { name, exact: true }).click();
  return { visit, dialog };
}

/** Ends a poll of a person that is on its way. */
async function endPoll(name: PersonName): Promise<void> {
  for (const high_contrast_mode of [true, false]) await web.clientOf(name).updateSettings({ high_contrast_mode });
}

/** Holds back the events of a person's page until the returned function is called. */
async function holdEvents({ page }: Visit, name: PersonName): Promise<() => void> {
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(/\/json\/events\?/, async (route) => {
    asked.resolve();
    await held.promise;
    // The page may have given the request up by now.
    await route.continue().catch(() => undefined);
  });
  await endPoll(name);
  await asked.promise;
  return held.resolve;
}

test('a person subscribes to a channel by the name that it has now', async () => {
  const { id } = await makeChannel('secret merger');
  const visit = await web.visit('member');
  const dialog = await openDialog(visit.page, 'Channels');
  const button = (name: string) => dialog.getByRole('button', { name, exact: true });
  await button('Subscribe secret merger').waitFor();
  const subscribers = async () => (await owner().getSubscribers({ stream_id: id })).subscribers;
  const { user_id } = web.system.people.member;
  let release = await holdEvents(visit, 'member');
  await owner().updateChannel({ stream_id: id, new_name: 'project x' });
  await button('Subscribe secret merger').click();
  await expect.poll(subscribers).toContain(user_id);
  const names = async () => (await owner().getChannels({ include_all: true })).streams.map(({ name }) => name);
  expect(await names()).not.toContain('secret merger');
  release();
  await button('Unsubscribe project x').waitFor();

  // Another channel gets the former name.
  release = await holdEvents(visit, 'member');
  await owner().updateChannel({ stream_id: id, new_name: 'project y' });
  await makeChannel('project x');
  await button('Unsubscribe project x').click();
  await expect.poll(subscribers).not.toContain(user_id);
  release();
  await button('Subscribe project y').waitFor();

  release = await holdEvents(visit, 'member');
  await owner().updateChannel({ stream_id: id, is_archived: true });
  await button('Subscribe project y').click();
  await dialog.getByText('The channel is archived.').waitFor();
  release();
  await button('Subscribe project y').waitFor({ state: 'detached' });
  await leave(visit);
});

test('the list of channels follows what others make, rename and archive', async () => {
  const visit = await web.visit('member');
  const dialog = await openDialog(visit.page, 'Channels');
  await dialog.getByRole('button', { name: 'Details of general' }).waitFor();
  const { id } = await makeChannel('cellar');
  await dialog.getByRole('button', { name: 'Details of cellar' }).waitFor();
  await owner().updateChannel({ stream_id: id, new_name: 'attic' });
  await dialog.getByRole('button', { name: 'Details of attic' }).waitFor();
  await owner().updateChannel({ stream_id: id, is_archived: true });
  await dialog.getByRole('button', { name: 'Details of attic' }).waitFor({ state: 'detached' });
  await leave(visit);
});

test('channels are not loaded again when others subscribe', async () => {
  const { id } = await makeChannel('lobby');
  const topic = 'after the subscription';
  const visit = await web.visit('owner', web.topicPath(topic));
  const { page } = visit;
  const dialog = await openDialog(page, 'Channels');
  await dialog.getByRole('button', { name: 'Details of lobby' }).click();
  await dialog.getByLabel('Name of the channel').waitFor();
  const loaded: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (['/json/streams', `/json/streams/${id}`].includes(pathname)) loaded.push(pathname);
  });
  await web.clientOf('member').subscribe({ subscriptions: [{ name: 'lobby' }] });
  // The event comes before that of a later message.
  await owner().sendMessage({ type: 'channel', to: web.general, topic, content: 'Somebody subscribed' });
  await message(page, 'Somebody subscribed').waitFor({ state: 'attached' });
  expect(loaded).toEqual([]);
  await owner().updateChannel({ stream_id: id, new_name: 'hall' });
  await dialog.getByRole('button', { name: 'Details of hall' }).waitFor();
  await expect.poll(() => dialog.getByLabel('Name of the channel').inputValue()).toBe('hall');
  await leave(visit);
});

test('channels are loaded again after their events were lost', async () => {
  const { id } = await makeChannel('harvest');
  const visit = await web.visit('owner');
  const { page } = visit;
  const poll = page.waitForRequest((request) => request.url().includes('/json/events?'));
  const dialog = await openDialog(page, 'Channels');
  await dialog.getByRole('button', { name: 'Details of harvest' }).click();
  const name = dialog.getByLabel('Name of the channel');
  await name.waitFor();
  await endPoll('owner');
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route('**/json/register', async (route) => {
    asked.resolve();
    await released.promise;
    await route.continue();
  });
  const queue_id = new URL((await poll).url()).searchParams.get('queue_id') ?? '';
  await owner().deleteQueue({ queue_id });
  await asked.promise;
  await owner().updateChannel({ stream_id: id, new_name: 'vintage' });
  released.resolve();
  await dialog.getByRole('button', { name: 'Details of vintage' }).waitFor();
  await expect.poll(() => name.inputValue()).toBe('vintage');
  await leave(visit);
});

test('a saved description of a channel leaves the name that somebody else gave it', async () => {
  const { id: stream_id } = await makeChannel('garden');
  const visit = await web.visit('owner');
  const dialog = await openDialog(visit.page, 'Channels');
  await dialog.getByRole('button', { name: 'Details of garden' }).click();
  const name = dialog.getByLabel('Name of the channel');
  const description = dialog.getByLabel('Description', { exact: true });
  await description.fill('Plants');
  await owner().updateChannel({ stream_id, new_name: 'orchard' });
  await expect.poll(() => name.inputValue()).toBe('orchard');
  const save = dialog.getByRole('button', { name: 'Save the name' });
  const channel = async () => (await owner().getChannel({ stream_id })).stream as unknown;
  for (const text of ['Plants', 'Trees']) {
    await description.fill(text);
    await save.click();
    await expect.poll(channel).toMatchObject({ name: 'orchard', description: text });
    await expect.poll(() => save.isDisabled()).toBe(true);
  }
  await name.fill('garden');
  await owner().updateChannel({ stream_id, description: 'Flowers' });
  await expect.poll(() => description.inputValue()).toBe('Flowers');
  await save.click();
  await expect.poll(channel).toMatchObject({ name: 'garden', description: 'Flowers' });
  await leave(visit);
});

test('the fields of the organization show what somebody else saved, except one that was edited', async () => {
  await owner().updateRealm({ name: 'Observatory', description: 'We watch the sky.' });
  const { visit, dialog } = await openSection('General');
  const name = dialog.getByLabel('Name of the organization');
  const description = dialog.getByLabel(/^Description/);
  await expect.poll(() => description.inputValue()).toBe('We watch the sky.');
  await owner().updateRealm({ description: 'We watch the stars.' });
  await expect.poll(() => description.inputValue()).toBe('We watch the stars.');
  await name.fill('Planetarium');
  await owner().updateRealm({ name: 'Telescope', description: 'We watch the planets.' });
  await expect.poll(() => description.inputValue()).toBe('We watch the planets.');
  expect(await name.inputValue()).toBe('Planetarium');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText('Saved.').waitFor();
  const answer = await owner().getServerSettings();
  expect(answer).toMatchObject({ realm_name: 'Planetarium', realm_description: 'We watch the planets.' });
  await leave(visit);
});

test('a bot gets the channel that was chosen, under the name that it has now', async () => {
  const { id } = await makeChannel('harbour');
  const { user_id } = await owner().createBot({ full_name: 'Sailor', short_name: 'sailor', bot_type: 1 });
  const { visit, dialog } = await openSection('Bots');
  await dialog.getByRole('button', { name: 'Change Sailor' }).click();
  const field = dialog.getByLabel('Channel for its messages');
  await field.selectOption('harbour');
  await owner().updateChannel({ stream_id: id, new_name: 'port' });
  await expect.poll(() => field.locator('option:checked').textContent()).toBe('port');
  await dialog.getByRole('button', { name: 'Save the bot' }).click();
  await dialog.getByText('Saved.').waitFor();
  const answer = await owner().register({ fetch_event_types: ['realm_bot'], event_types: [] });
  const { realm_bots } = answer as unknown as { realm_bots: Record<string, unknown>[] };
  expect(realm_bots.find((bot) => bot.user_id === user_id)).toMatchObject({ default_sending_stream: 'port' });
  await leave(visit);
});

test('a permission that somebody else changed meanwhile is not overwritten', async () => {
  const { visit, dialog } = await openSection('Permissions');
  await dialog.getByLabel('Create groups', { exact: true }).selectOption('Certain people and groups');
  const person = dialog.getByLabel('Add a person or group: Create groups');
  await person.fill(web.system.people.member.full_name);
  await person.press('Enter');
  const theirs = { direct_members: [web.system.people.member2.user_id], direct_subgroups: [] };
  await owner().updateRealm({ can_create_groups: { new: theirs } });
  const save = dialog.getByRole('button', { name: 'Save Create groups' });
  // The event comes before the answer to a later request.
  await dialog.getByLabel('Create groups', { exact: true }).waitFor();
  await owner().updateRealm({ name: 'After the permission' });
  await visit.page.locator('.realm', { hasText: 'After the permission' }).waitFor({ state: 'attached' });
  await save.click();
  await dialog.getByText(/does not match the expected value/).waitFor();
  const holders = async () =>
    ((await owner().register({ fetch_event_types: ['realm'], event_types: [] })) as unknown as Record<string, unknown>)
      .realm_can_create_groups;
  expect(await holders()).toEqual(theirs);
  await leave(visit);
});

test('a saved permission is shown, and can be changed further, before its event arrives', async () => {
  const { visit, dialog } = await openSection('Permissions');
  const field = dialog.getByLabel('Add emoji', { exact: true });
  const shown = () => field.locator('option:checked').textContent();
  const release = await holdEvents(visit, 'owner');
  await field.selectOption('Moderators');
  await dialog.getByText('Saved.').waitFor();
  expect(await shown()).toBe('Moderators');
  await field.selectOption('Certain people and groups');
  const { full_name, user_id } = web.system.people.member;
  const person = dialog.getByLabel('Add a person or group: Add emoji');
  await person.fill(full_name);
  await person.press('Enter');
  const save = dialog.getByRole('button', { name: 'Save Add emoji' });
  await save.click();
  await save.waitFor({ state: 'detached' });
  const { user_groups } = await owner().getUserGroups();
  const moderators = user_groups.find(({ name }) => name === 'role:moderators')?.id;
  const { realm_can_add_custom_emoji_group: holders } = (await owner().register({
    fetch_event_types: ['realm'],
    event_types: [],
  })) as unknown as Record<string, unknown>;
  expect(holders).toEqual({ direct_members: [user_id], direct_subgroups: [moderators] });
  const list = dialog.getByRole('list', { name: 'Who may: Add emoji' });
  expect(await list.getByRole('listitem').count()).toBe(2);
  release();
  // The form then shows the choices of other users.
  await owner().updateRealm({ can_add_custom_emoji_group: { new: moderators ?? 0 } });
  await list.waitFor({ state: 'detached' });
  await expect.poll(shown).toBe('Moderators');
  await leave(visit);
});

test('a saved pattern of a linkifier leaves the address that somebody else gave it', async () => {
  const { id } = await owner().addLinkifier({
    pattern: '#(?P<id>[0-9]+)',
    url_template: 'https://old.example.com/{id}',
  });
  const { visit, dialog } = await openSection('Linkifiers');
  await dialog.getByRole('button', { name: /^Change / }).click();
  const url_template = 'https://new.example.com/{id}';
  await owner().updateLinkifier({ filter_id: id, pattern: '#(?P<id>[0-9]+)', url_template });
  const card = dialog.getByRole('listitem');
  const pattern = card.getByLabel(/^Pattern/);
  const linkifiers = async () => (await owner().getLinkifiers()).linkifiers;
  for (const text of ['T(?P<id>[0-9]+)', '#(?P<id>[0-9]+)']) {
    await pattern.fill(text);
    await card.getByRole('button', { name: 'Save the linkifier' }).click();
    await expect.poll(linkifiers).toEqual([{ id, pattern: text, url_template }]);
    await expect.poll(() => card.getByLabel(/^Address/).inputValue()).toBe(url_template);
  }
  await leave(visit);
});

test('a corrected option keeps those who chose it, and a removed one is confirmed', async () => {
  const options = { 0: { text: 'Kichen', order: '0' }, 1: { text: 'Garden', order: '1' } };
  const field = { name: 'Workplace', hint: 'Where', field_type: 3 };
  const { id } = await owner().createProfileField({ ...field, field_data: options });
  await web.clientOf('member').updateOwnProfileData({ data: [{ id, value: '0' }] });
  const { visit, dialog } = await openSection('Profile fields');
  await dialog.getByRole('button', { name: 'Change Workplace' }).click();
  await checkLook(visit.page);
  const card = dialog.getByRole('listitem').filter({ hasText: 'Workplace' });
  const save = card.getByRole('button', { name: 'Save the field' });
  const known = async () => {
    const one = (await owner().getProfileFields()).custom_fields.find((other) => other.id === id);
    return { name: one?.name, options: JSON.parse(one?.field_data ?? '{}') as unknown };
  };
  await card.getByLabel('New name of Kichen').fill('Kitchen');
  await card.getByLabel('More options, one in each line').fill('Cellar');
  // Somebody else adds an option too.
  await owner().updateProfileField({ field_id: id, field_data: { ...options, 2: { text: 'Attic', order: '2' } } });
  await save.click();
  await expect.poll(known).toEqual({
    name: 'Workplace',
    options: {
      0: { text: 'Kitchen', order: '0' },
      1: { text: 'Garden', order: '1' },
      2: { text: 'Attic', order: '2' },
      3: { text: 'Cellar', order: '3' },
    },
  });
  const { user_id } = web.system.people.member;
  const asked = { user_id_or_email: String(user_id), include_custom_profile_fields: true };
  const chosen = async () => (await owner().getUser(asked)).user.profile_data?.[id]?.value;
  expect(await chosen()).toBe('0');
  await card.getByRole('button', { name: 'Up Attic' }).click();
  for (let click = 0; click < 2; click++)
    await card.getByRole('button', { name: 'Remove Kitchen, also from profiles' }).click();
  // The button that had the focus is gone, or disabled.
  await card.getByRole('list', { name: 'Options' }).waitFor();
  const focused = () => visit.page.evaluate(`document.activeElement.getAttribute('aria-label')`);
  await expect.poll(focused).toBe('New name of Attic');
  await card.getByRole('button', { name: 'Up Garden' }).click();
  await expect.poll(focused).toBe('New name of Garden');
  await card.getByRole('button', { name: 'Down Garden' }).click();
  await save.click();
  await expect.poll(known).toMatchObject({
    options: {
      2: { text: 'Attic', order: '0' },
      1: { text: 'Garden', order: '1' },
      3: { text: 'Cellar', order: '2' },
    },
  });
  expect(await chosen()).toBeUndefined();
  // A field that was saved can be changed back.
  for (const name of ['Place', 'Workplace']) {
    await dialog.getByLabel('Name of the field').last().fill(name);
    await dialog.getByRole('button', { name: 'Save the field' }).click();
    await expect.poll(async () => (await known()).name).toBe(name);
    await dialog.getByRole('button', { name: `Change ${name}` }).waitFor();
  }
  await leave(visit);
});

test('an option that somebody else added meanwhile is shown if the same one is refused', async () => {
  const red = { 0: { text: 'Red', order: '0' } };
  const { id } = await owner().createProfileField({ name: 'Color', hint: '', field_type: 3, field_data: red });
  const { visit, dialog } = await openSection('Profile fields');
  await dialog.getByRole('button', { name: 'Change Color' }).click();
  const card = dialog.getByRole('listitem').filter({ hasText: 'Color' });
  const save = card.getByRole('button', { name: 'Save the field' });
  await card.getByLabel('New name of Red').fill('Blue');
  const field_data = { ...red, 1: { text: 'Blue', order: '1' } };
  await owner().updateProfileField({ field_id: id, field_data });
  await save.click();
  await card.locator('.outcome.alarm').waitFor();
  const theirs = card.getByLabel('New name of Blue');
  await theirs.waitFor();
  expect(await card.getByLabel('New name of Red').inputValue()).toBe('Blue');
  for (let click = 0; click < 2; click++)
    await card.getByRole('button', { name: 'Remove Blue, also from profiles' }).click();
  await save.click();
  const options = async () => {
    const one = (await owner().getProfileFields()).custom_fields.find((other) => other.id === id);
    return JSON.parse(one?.field_data ?? '{}') as unknown;
  };
  await expect.poll(options).toEqual({ 0: { text: 'Blue', order: '0' } });
  await leave(visit);
});
