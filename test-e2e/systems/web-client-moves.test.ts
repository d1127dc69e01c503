import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLook } from '../web-look.ts';
import { leave, message, openWeb, type PersonName, type Web } from '../web-visit.ts';

/** Moves, resolved topics and forwarded messages in the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const send = async (name: PersonName, topic: string, content: string): Promise<number> =>
  (await web.clientOf(name).sendMessage({ type: 'channel', to: web.general, topic, content })).id;
const idOf = (name: PersonName): number => web.system.people[name].user_id;

/** Opens the menu of a message. The list may move the message away from the pointer: the focus keeps its buttons there. */
async function openActions(page: Page, text: string): Promise<void> {
  await message(page, text).focus();
  await message(page, text).getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: /^Reply/ }).waitFor();
}

test('a topic is resolved and renamed in its menu, and the page follows', async () => {
  await send('member2', 'leak', 'The roof leaks');
  const visit = await web.visit('member', web.topicPath('leak'));
  const { page } = visit;
  await message(page, 'The roof leaks').waitFor();
  const menu = page.getByRole('main').getByRole('button', { name: /^Actions on topic/ });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Mark as resolved' }).click();
  await page.getByRole('heading', { name: '#general › ✔ leak' }).waitFor();
  await message(page, 'The roof leaks').waitFor();
  // Reopening deletes the notice, which is the newest of the moved messages.
  await message(page, 'has marked this topic as resolved').waitFor();
  await menu.click();
  await page.getByRole('menuitem', { name: 'Mark as unresolved' }).click();
  await page.getByRole('heading', { name: '#general › leak' }).waitFor();
  await menu.click();
  await page.getByRole('menuitem', { name: 'Move or rename…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Move or rename the topic' });
  await dialog.getByLabel('Topic', { exact: true }).fill('roof');
  await checkLook(page);
  await dialog.getByRole('button', { name: 'Move', exact: true }).click();
  await page.getByRole('heading', { name: '#general › roof' }).waitFor();
  await message(page, 'The roof leaks').waitFor();
  await leave(visit);
});

const topicMenu = (page: Page) => page.getByRole('main').getByRole('button', { name: /^Actions on topic/ });
const moveDialog = (page: Page) => page.getByRole('dialog', { name: 'Move or rename the topic' });

/** Opens the dialog that moves the topic on the page, and waits until it has loaded its messages. */
async function openMove(page: Page): Promise<void> {
  await topicMenu(page).click();
  const newest = page.waitForResponse((one) => /num_before=20&/.test(one.url()) && one.ok());
  await page.getByRole('menuitem', { name: 'Move or rename…' }).click();
  await newest;
  await moveDialog(page).waitFor();
}

test('the messages of a topic are moved also if others rename it while the dialog is open', async () => {
  const id = await send('member2', 'lunch', 'Soup or salad?');
  const visit = await web.visit('member', web.topicPath('lunch'));
  const { page } = visit;
  const menu = topicMenu(page);
  const dialog = moveDialog(page);
  const rename = { topic: 'brunch', propagate_mode: 'change_all', send_notification_to_old_thread: true } as const;
  await openMove(page);
  await web.clientOf('owner').updateMessage({ message_id: id, ...rename });
  await message(page, 'This topic was moved').waitFor();
  await dialog.getByLabel('Topic', { exact: true }).fill('dinner');
  await dialog.getByRole('button', { name: 'Move', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const { message: moved } = await web.clientOf('member').getMessage({ message_id: id });
  expect(moved.subject).toBe('dinner');

  await page.goto(`${web.system.url}${web.topicPath('nothing')}`);
  await openMove(page);
  await dialog.getByLabel('Topic', { exact: true }).fill('something');
  await dialog.getByRole('button', { name: 'Move', exact: true }).click();
  await dialog.getByText('This topic has no messages.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await menu.click();
  await page.getByRole('menuitem', { name: 'Mark as resolved' }).click();
  await page.getByRole('alert').getByText('This topic has no messages.').waitFor();
  await leave(visit);
});

test('the messages of a topic are moved also if the newest ones are deleted while the dialog is open', async () => {
  const owner = web.clientOf('owner');
  const [first, second] = [await send('member2', 'stew', 'With beans?'), await send('member2', 'stew', 'Or not')];
  const visit = await web.visit('member', web.topicPath('stew'));
  const { page } = visit;
  const moveTo = async (topic: string): Promise<void> => {
    await moveDialog(page).getByLabel('Topic', { exact: true }).fill(topic);
    await moveDialog(page).getByRole('button', { name: 'Move', exact: true }).click();
    await moveDialog(page).waitFor({ state: 'detached' });
  };
  const topicOf = async (id: number) => (await owner.getMessage({ message_id: id })).message.subject;
  await message(page, 'Or not').waitFor();
  await openMove(page);
  await owner.deleteMessage({ message_id: second });
  await moveTo('soup');
  expect(await topicOf(first)).toBe('soup');
  await page.getByRole('heading', { name: '#general › soup' }).waitFor();
  // The messages that the dialog had loaded have left the topic, and others have arrived.
  await openMove(page);
  const notice = (
    await owner.getMessages({
      anchor: 'newest',
      num_before: 9,
      num_after: 0,
      narrow: [{ operator: 'topic', operand: 'soup' }],
    })
  ).messages;
  for (const { id } of notice) await owner.deleteMessage({ message_id: id as number });
  const later = await send('member2', 'soup', 'With noodles');
  await moveTo('pasta');
  expect(await topicOf(later)).toBe('pasta');
  await leave(visit);
});

test('a link to a topic leads to where the topic is now', async () => {
  const id = await send('member2', 'tiles', 'The tiles are loose');
  await send('member2', 'repairs', 'See #**general>tiles** please');
  await web.clientOf('owner').updateMessage({ message_id: id, topic: 'slates', propagate_mode: 'change_all' });
  const visit = await web.visit('member', web.topicPath('repairs'));
  const { page } = visit;
  const link = message(page, 'See').getByRole('link', { name: /tiles/ });
  const address = (await link.getAttribute('href')) ?? '';
  await link.click();
  await page.waitForURL(`**${web.topicPath('slates')}`);
  await message(page, 'The tiles are loose').waitFor();
  await page.goto(new URL(address, web.system.url).href);
  await page.waitForURL(`**${web.topicPath('slates')}`);
  await message(page, 'The tiles are loose').waitFor();
  await leave(visit);
});

test('a page follows a topic that others resolve and rename, with the unsent text', async () => {
  await send('member2', 'door', 'The door is open');
  const visit = await web.visit('member', web.topicPath('door'));
  const { page } = visit;
  const box = page.locator('#compose');
  await message(page, 'The door is open').waitFor();
  await box.fill('I will close');
  const owner = web.clientOf('owner');
  const id = await send('owner', 'door', 'It is closed');
  await message(page, 'It is closed').waitFor();
  await owner.updateMessage({ message_id: id, topic: '✔ door', propagate_mode: 'change_all' });
  await page.getByRole('heading', { name: '#general › ✔ door' }).waitFor();
  await message(page, 'The door is open').waitFor();
  expect(await box.inputValue()).toBe('I will close');
  const drafts = async () =>
    (await web.clientOf('member').getDrafts()).drafts.map(({ topic, content }) => [topic, content]);
  await expect.poll(drafts).toEqual([['✔ door', 'I will close']]);
  // If only one message is moved, the page stays at the topic.
  await owner.updateMessage({ message_id: id, topic: 'window', propagate_mode: 'change_one' });
  await message(page, 'It is closed').waitFor({ state: 'detached' });
  await message(page, 'The door is open').waitFor();
  // The page also stays if the conversation is moved to a channel that the reader may not read.
  const secret = await owner.createChannel({ name: 'secret', subscribers: [idOf('owner')], invite_only: true });
  const first = (
    await owner.getMessages({
      narrow: [{ operator: 'topic', operand: '✔ door' }],
      anchor: 'oldest',
      num_before: 0,
      num_after: 1,
    })
  ).messages[0];
  await owner.updateMessage({ message_id: Number(first?.id), stream_id: secret.id, propagate_mode: 'change_all' });
  await message(page, 'The door is open').waitFor({ state: 'detached' });
  await send('owner', '✔ door', 'Elsewhere');
  await message(page, 'Elsewhere').waitFor();
  expect(await box.inputValue()).toBe('I will close');
  await leave(visit);
});

test('a page that was opened at a message stays where the reader is writing when others move the message', async () => {
  const near = await send('member2', 'kitchen', 'The tap drips');
  await send('member2', 'kitchen', 'The stove is off');
  const path = `${web.topicPath('kitchen')}?near=${near}`;
  const visit = await web.visit('member', path);
  const { page } = visit;
  const box = page.locator('#compose');
  await message(page, 'The tap drips').waitFor();
  await box.pressSequentially('I will ');
  await web.clientOf('owner').updateMessage({ message_id: near, topic: 'bath', propagate_mode: 'change_one' });
  await message(page, 'The tap drips').waitFor({ state: 'detached' });
  // Events are followed in order.
  await send('owner', 'kitchen', 'Who has time?');
  await message(page, 'Who has time?').waitFor();
  await page.keyboard.type('switch it on');
  expect(await box.inputValue()).toBe('I will switch it on');
  await page.getByRole('heading', { name: '#general › kitchen' }).waitFor();
  // The link still leads to the message.
  await page.goto(web.system.url + path);
  await page.getByRole('heading', { name: '#general › bath' }).waitFor();
  await message(page, 'The tap drips').waitFor();
  await leave(visit);
});

test('a link to a moved message leads there, unless the reader begins to write where it was', async () => {
  const near = await send('member2', 'hall', 'The hall is dark');
  await send('member2', 'hall', 'The lamp is broken');
  await web.clientOf('owner').updateMessage({ message_id: near, topic: 'stairs', propagate_mode: 'change_one' });
  const visit = await web.visit('member', '/inbox');
  const { page } = visit;
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route(/\/json\/messages\/\d+(\?|$)/, async (route) => {
    asked.resolve();
    await released.promise;
    await route.continue();
  });
  await page.goto(`${web.system.url}${web.topicPath('hall')}?near=${near}`);
  await message(page, 'The lamp is broken').waitFor();
  await asked.promise;
  const box = page.locator('#compose');
  await box.pressSequentially('I have ');
  const answer = page.waitForResponse(/\/json\/messages\/\d+/);
  released.resolve();
  await answer;
  // The page handles the answers in their order.
  await page.evaluate("fetch('/json/server_settings').then((answer) => answer.text())");
  await page.keyboard.type('another one');
  await page.getByRole('heading', { name: '#general › hall' }).waitFor();
  expect(await box.inputValue()).toBe('I have another one');
  await leave(visit);
});

test("a page that was opened at a message stays if the reader's text cannot go along", async () => {
  const near = await send('member2', 'attic', 'The attic is full');
  await web
    .clientOf('member')
    .createDrafts({ drafts: [{ type: 'stream', to: [web.general], topic: 'cellar', content: 'It is dark' }] });
  const visit = await web.visit('member', `${web.topicPath('attic')}?near=${near}`);
  const { page } = visit;
  const box = page.locator('#compose');
  await message(page, 'The attic is full').waitFor();
  await box.pressSequentially('Let us ');
  const asked = page.waitForResponse(/\/json\/messages\/\d+/);
  await web.clientOf('owner').updateMessage({ message_id: near, topic: 'cellar', propagate_mode: 'change_all' });
  await message(page, 'The attic is full').waitFor({ state: 'detached' });
  // The page has learnt where its messages are.
  await asked;
  await send('owner', 'attic', 'An empty room');
  await message(page, 'An empty room').waitFor();
  await page.keyboard.type('clear it');
  expect(await box.inputValue()).toBe('Let us clear it');
  await leave(visit);
});

test('a topic that others rename does not move the focus of a reader who types', async () => {
  const id = await send('member', 'lamp', 'The lamp is off');
  const visit = await web.visit('member', web.topicPath('lamp'));
  const { page } = visit;
  const rename = (topic: string) =>
    web.clientOf('owner').updateMessage({ message_id: id, topic, propagate_mode: 'change_all' });
  const isFocused = (box: Locator) => box.evaluate((element) => element === document.activeElement);
  await message(page, 'The lamp is off').waitFor();
  await page.locator(`[data-message="${id}"]`).focus();
  await page.keyboard.press('e');
  const editor = page.locator('.editor textarea');
  await editor.fill('The lamp is on');
  await rename('✔ lamp');
  await page.getByRole('heading', { name: '#general › ✔ lamp' }).waitFor();
  await expect.poll(() => isFocused(editor)).toBe(true);
  expect(await editor.inputValue()).toBe('The lamp is on');
  await editor.press('Escape');
  await page.getByText('New direct message', { exact: true }).first().click();
  const search = page.getByRole('searchbox', { name: 'Find people' });
  await search.fill('Ma');
  await rename('light');
  await page.getByRole('heading', { name: '#general › light' }).waitFor();
  await message(page, 'The lamp is off').waitFor();
  expect(await isFocused(search)).toBe(true);
  await leave(visit);
});

test('a message and the later ones are moved by keyboard, and only with permission', async () => {
  const member = web.clientOf('member');
  await web.clientOf('owner').createChannel({ name: 'annex', subscribers: [idOf('owner'), idOf('member')] });
  await send('member2', 'mixed', 'stays here');
  const second = await send('member2', 'mixed', 'goes away');
  await send('member2', 'mixed', 'goes too');
  const visit = await web.visit('member', web.topicPath('mixed'));
  const { page } = visit;
  await page.locator(`[data-message="${second}"]`).focus();
  await page.keyboard.press('m');
  const dialog = page.getByRole('dialog', { name: 'Move messages' });
  await dialog.getByLabel('Channel').selectOption('#annex');
  await dialog.getByLabel('Topic', { exact: true }).fill('moved');
  await checkLook(page);
  await dialog.getByLabel('Topic', { exact: true }).press('Enter');
  await page.getByRole('heading', { name: '#annex › moved' }).waitFor();
  await message(page, 'goes away').waitFor();
  await message(page, 'goes too').waitFor();
  const place = async (id: number) => (await member.getMessage({ message_id: id })).message as unknown;
  expect(await place(second)).toMatchObject({ subject: 'moved', display_recipient: 'annex' });
  await page.goto(web.system.url + web.topicPath('mixed'));
  await message(page, 'stays here').waitFor();
  const owner = web.clientOf('owner');
  const groups = (await owner.getUserGroups()).user_groups;
  const nobody = groups.find(({ name }) => name === 'role:nobody')?.id ?? 0;
  await owner.updateRealm({
    can_move_messages_between_topics_group: { new: nobody },
    can_move_messages_between_channels_group: { new: nobody },
  });
  const actions = async (): Promise<string[]> => {
    await openActions(page, 'stays here');
    const items = await page.getByRole('menuitem').allTextContents();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    return items.filter((text) => text.startsWith('Move'));
  };
  await expect.poll(actions).toEqual([]);
  await leave(visit);
});

test('a message is forwarded to a user with a quote and a link', async () => {
  await send('member2', 'news', 'Read all about it');
  const visit = await web.visit('member', web.topicPath('news'));
  const { page } = visit;
  await openActions(page, 'Read all about it');
  await page.getByRole('menuitem', { name: 'Forward…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Forward the message' });
  await dialog.getByLabel('Direct message').check();
  await checkLook(page);
  await dialog.getByLabel('To', { exact: true }).fill(web.system.people.owner.full_name);
  await dialog.getByLabel('To', { exact: true }).press('Enter');
  await dialog.getByRole('button', { name: 'Write' }).click();
  await expect.poll(() => page.locator('#compose').inputValue()).toContain('Read all about it');
  await page.locator('#compose').press('Enter');
  await message(page, 'Read all about it').locator('blockquote').waitFor();
  await leave(visit);
});

const signal = () => Promise.withResolvers<void>();

test('a quote that arrives late does not take the reader from where they have gone meanwhile', async () => {
  const address = new RegExp(`/json/messages/${await send('member2', 'late', 'Quoted too late')}(\\?|$)`);
  await send('member', 'late', 'Edited meanwhile');
  const visit = await web.visit('member', web.topicPath('late'));
  const { page } = visit;
  const compose = page.locator('#compose');
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  /** Asks for the text of the message, which the server gives after something else. */
  const quoteLate = async (item: RegExp, meanwhile: () => Promise<unknown>): Promise<void> => {
    const [asked, released, ended] = [signal(), signal(), signal()];
    await page.route(address, async (route) => {
      asked.resolve();
      await released.promise;
      await route.continue();
    });
    const answer = page.waitForResponse((one) => address.test(one.url()) && one.status() !== 503);
    // Chromium reports some answers that the page has read entirely as aborted.
    const end = (one: Request): void => {
      if (address.test(one.url())) ended.resolve();
    };
    page.on('requestfinished', end);
    page.on('requestfailed', end);
    await openActions(page, 'Quoted too late');
    await page.getByRole('menuitem', { name: item }).click();
    await asked.promise;
    await meanwhile();
    released.resolve();
    await Promise.all([answer, ended.promise]);
    // The page handles the answers in their order.
    await page.evaluate("fetch('/json/server_settings').then((answer) => answer.text())");
    page.off('requestfinished', end);
    page.off('requestfailed', end);
    await page.unroute(address);
  };
  await quoteLate(/^Quote and reply/, async () => {
    await page.keyboard.press('t');
    await page.waitForURL('**/recent');
  });
  expect(new URL(page.url()).pathname).toBe('/recent');
  await page.goBack();
  await compose.waitFor();
  await quoteLate(/^Forward/, async () => {
    await page.keyboard.press('?');
    await shortcuts.waitFor();
  });
  await shortcuts.waitFor();
  await page.keyboard.press('Escape');
  await shortcuts.waitFor({ state: 'detached' });
  const editor = page.getByRole('textbox', { name: 'Text of the message' });
  await quoteLate(/^Quote and reply/, async () => {
    await message(page, 'Edited meanwhile').focus();
    await page.keyboard.press('e');
    await editor.and(page.locator(':focus')).waitFor();
  });
  await editor.pressSequentially('!');
  expect(await editor.inputValue()).toBe('Edited meanwhile!');
  await editor.press('Escape');
  expect(await compose.inputValue()).toBe('');
  await quoteLate(/^Quote and reply/, async () => compose.focus());
  await expect.poll(() => compose.inputValue()).toContain('Quoted too late');
  await quoteLate(/^Forward/, async () => compose.focus());
  // The code of a dialog is loaded some time after it is asked for.
  await expect(page.getByRole('dialog').waitFor({ timeout: 2_000 })).rejects.toThrow('Timeout');
  // The compose box of a new topic is not the one of the message.
  await page.goto(`${web.system.url}/channel/${web.general}`);
  await compose.waitFor();
  // The channel opens at its first unread message, and tests before may have left some.
  await page.keyboard.press('End');
  await quoteLate(/^Quote and reply/, async () => compose.focus());
  expect(new URL(page.url()).pathname).toBe(`/channel/${web.general}`);
  await leave(visit);
});
