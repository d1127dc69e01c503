import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restingPlace } from '../list-place.ts';
import { checkLook } from '../web-look.ts';
import { message, openWeb, type PersonName, type Web } from '../web-visit.ts';

/** Tests of reading in the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

async function send(name: PersonName, topic: string, content: string): Promise<number> {
  return (await web.clientOf(name).sendMessage({ type: 'channel', to: web.general, topic, content })).id;
}

const visit = (name: PersonName, path: string) => web.visit(name, path);
const article = (page: Page, id: number) => page.locator(`[data-message="${id}"]`);
const dialog = (page: Page) => page.getByRole('dialog');

/** Leaves the compose box, and goes to the newest message. */
async function readNewest(page: Page, id: number): Promise<void> {
  await article(page, id).waitFor();
  await page.locator('#compose').press('Escape');
  const focused = async (): Promise<unknown> => {
    await page.keyboard.press('End');
    return page.evaluate('document.activeElement?.dataset.message');
  };
  await expect.poll(focused).toBe(String(id));
}

test('reactions are added and removed by click and by keyboard, and all users see them', async () => {
  const id = await send('member2', 'reactions', 'Shall we?');
  const [max, mia] = await Promise.all([
    visit('member', web.topicPath('reactions')),
    visit('member2', web.topicPath('reactions')),
  ]);
  // A list that moves would take the message away from the pointer, and its buttons with it.
  await restingPlace(max.page);
  await article(max.page, id).hover();
  await article(max.page, id).getByRole('button', { name: 'React with thumbs up' }).click();
  const chip = article(mia.page, id).getByRole('button', { name: /^thumbs up: / });
  await chip.waitFor();
  await expect.poll(() => chip.getAttribute('aria-pressed')).toBe('false');
  await chip.click();
  await article(max.page, id)
    .getByRole('button', { name: /^thumbs up: 2, you and / })
    .click();
  await article(mia.page, id).getByRole('button', { name: 'thumbs up: 1, you', exact: true }).waitFor();
  await readNewest(max.page, id);
  await max.page.keyboard.press(':');
  await max.page.getByRole('combobox', { name: 'Find an emoji' }).fill('tada');
  await dialog(max.page).getByRole('option', { name: 'tada' }).first().waitFor();
  await max.page.keyboard.press('Enter');
  await article(mia.page, id)
    .getByRole('button', { name: /^tada: 1, / })
    .waitFor();
  expect([...max.faults, ...mia.faults]).toEqual([]);
  await Promise.all([max.page.context().close(), mia.page.context().close()]);
});

test('own messages can be edited and deleted by keyboard, and those of others cannot', async () => {
  const theirs = await send('member2', 'changes', 'Not mine');
  const own = await send('member', 'changes', 'With a mistaek');
  const [max, mia] = await Promise.all([
    visit('member', web.topicPath('changes')),
    visit('member2', web.topicPath('changes')),
  ]);
  const { page } = max;
  await readNewest(page, own);
  await page.keyboard.press('e');
  const box = page.getByRole('textbox', { name: 'Text of the message' });
  await box.waitFor();
  await expect.poll(() => box.inputValue()).toBe('With a mistaek');
  await box.fill('Without a mistake');
  await box.press('Enter');
  await article(mia.page, own).getByText('Without a mistake').waitFor();
  await article(page, own).getByText('edited').waitFor();
  await box.waitFor({ state: 'detached' });
  const menuOf = async (id: number): Promise<void> => {
    await article(page, id).focus();
    await article(page, id).getByRole('button', { name: 'More actions' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Copy link' }).waitFor();
  };
  await menuOf(theirs);
  expect(await page.getByRole('menuitem', { name: /Edit|Delete/ }).count()).toBe(0);
  await page.keyboard.press('Escape');
  // The menu gives the focus back soon after it closed.
  const button = article(page, theirs).getByRole('button', { name: 'More actions' });
  await button.and(page.locator(':focus')).waitFor({ state: 'attached' });
  await menuOf(own);
  await page.getByRole('menuitem', { name: 'Delete…' }).press('Enter');
  await dialog(page).getByRole('button', { name: 'Delete' }).press('Enter');
  await article(mia.page, own).waitFor({ state: 'detached' });
  await article(page, own).waitFor({ state: 'detached' });
  expect([...max.faults, ...mia.faults]).toEqual([]);
  await Promise.all([page.context().close(), mia.page.context().close()]);
});

test('keys that are pressed before the text of an edit is loaded do nothing, and the text takes the next ones', async () => {
  const id = await send('member', 'early', 'Begun');
  const { page, faults } = await visit('member', web.topicPath('early'));
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(/\/json\/messages\/\d+(\?|$)/, async (route) => {
    asked.resolve();
    await released.promise;
    await route.continue();
  });
  await readNewest(page, id);
  await page.keyboard.press('e');
  await asked.promise;
  // These keys are shortcuts: they would star the message, reply to it, and list the shortcuts.
  for (const key of ['s', 'Enter', '?']) await page.keyboard.press(key);
  released.resolve();
  await expect.poll(() => page.evaluate('document.activeElement.value')).toBe('Begun');
  await page.keyboard.type(' here');
  await page.keyboard.press('Enter');
  await article(page, id).locator('.content').getByText('Begun here').waitFor();
  expect([await article(page, id).getByText('★').count(), await dialog(page).count()]).toEqual([0, 0]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a quote names its author, links to the message and can be undone', async () => {
  const id = await send('member2', 'quotes', 'To be quoted, with ```fences```');
  const { page, faults } = await visit('member', web.topicPath('quotes'));
  await readNewest(page, id);
  await page.keyboard.press('>');
  const compose = page.locator('#compose');
  await expect.poll(() => compose.inputValue()).toContain(`near/${id}`);
  const quoted = await compose.inputValue();
  await compose.press('ControlOrMeta+z');
  await expect.poll(() => compose.inputValue()).toBe('');
  await compose.press('ControlOrMeta+Shift+z');
  await expect.poll(() => compose.inputValue()).toBe(quoted);
  await compose.press('ControlOrMeta+End');
  await compose.pressSequentially('Well said');
  await compose.press('Enter');
  const answer = message(page, 'Well said').filter({ has: page.locator('blockquote') });
  await answer.getByText('To be quoted, with').waitFor();
  await answer.getByRole('link', { name: 'said' }).click();
  await page.waitForURL(`**/topic/quotes?near=${id}`);
  await page.locator(`[data-message="${id}"][data-near=true]`).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('inbox, recent conversations, mentions and stars are updated by events', async () => {
  const reader = web.clientOf('member');
  const name = (await reader.getOwnUser()).full_name;
  const { page, faults } = await visit('member', '/starred');
  await page.getByText('You have not starred a message yet').waitFor();
  await page.getByRole('link', { name: /^Inbox/ }).click();
  const id = await send('member2', 'views', `@**${name}** please look`);
  const group = page.getByRole('region', { name: '#general' });
  await group
    .getByRole('link', { name: /^views/ })
    .getByText('You are mentioned')
    .waitFor();
  await page.getByRole('link', { name: /^Mentions/ }).click();
  await article(page, id).waitFor();
  await article(page, id).focus();
  await page.keyboard.press('s');
  await article(page, id).getByText('★').first().waitFor();
  await page.getByRole('link', { name: 'Starred messages' }).click();
  await article(page, id).waitFor();
  await page.getByRole('link', { name: 'Recent conversations' }).click();
  const recent = page.getByRole('list', { name: 'Conversations' });
  await recent.getByRole('link', { name: /general › views/ }).waitFor();
  await web.clientOf('owner').updateMessage({ message_id: id, topic: 'other views', propagate_mode: 'change_all' });
  await recent.getByRole('link', { name: /general › other views/ }).waitFor();
  await page.getByRole('link', { name: 'Starred messages' }).click();
  await web.clientOf('owner').deleteMessage({ message_id: id });
  await page.getByText('You have not starred a message yet').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('messages marked as unread stay unread until the conversation is opened again', async () => {
  const ids: number[] = [];
  for (const text of ['one', 'two', 'three']) ids.push(await send('member2', 'unread', text));
  const [first = 0, second = 0] = ids;
  const { page, faults } = await visit('member', web.topicPath('unread'));
  const unread = async (): Promise<number[]> => {
    const { messages } = await web.clientOf('member').getMessages({
      narrow: [
        { operator: 'channel', operand: web.general },
        { operator: 'topic', operand: 'unread' },
        { operator: 'is', operand: 'unread' },
      ],
      anchor: 'newest',
      num_before: 10,
      num_after: 0,
    });
    return messages.map(({ id }) => id);
  };
  await expect.poll(unread).toEqual([]);
  await page.locator('#compose').press('Escape');
  await article(page, second).focus();
  await page.keyboard.press('U');
  await expect.poll(unread).toEqual(ids.filter((id) => id > first));
  await page.getByRole('link', { name: /^Inbox/ }).click();
  const line = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: /^unread/ }) });
  await line.getByRole('button', { name: 'Mark unread as read' }).click();
  await expect.poll(unread).toEqual([]);
  await line.waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('messages of an archived channel are marked as read although nothing else is unread', async () => {
  const owner = web.clientOf('owner');
  const { user_id } = web.system.people.member;
  const { id: stream_id } = await owner.createChannel({ name: 'attic', subscribers: [user_id] });
  const { id } = await owner.sendMessage({ type: 'channel', to: stream_id, topic: 'boxes', content: 'Full of dust' });
  await owner.updateChannel({ stream_id, is_archived: true });
  await web.clientOf('member').markAllRead();
  await web.clientOf('member').updateFlags({ messages: [id], op: 'remove', flag: 'read' });
  const { page, faults } = await visit('member', `/channel/${stream_id}/topic/boxes`);
  await article(page, id).waitFor();
  const flags = async () =>
    (await web.clientOf('member').getMessage({ message_id: id })).message.flags.filter((one) => one === 'read');
  await expect.poll(flags).toEqual(['read']);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a search combines operators and words, highlights its matches, and links to their place', async () => {
  const id = await send('member2', 'zoology', 'The aardvark sleeps https://example.org');
  await send('member2', 'zoology', 'The aardvark wakes');
  const { page, faults } = await visit('member', '/');
  await page.locator('.messages').focus();
  await page.keyboard.press('/');
  const box = page.getByRole('combobox', { name: 'Search messages' });
  await box.fill('aardvark');
  await box.press('Enter');
  await page.locator('.highlight').nth(1).waitFor();
  await box.pressSequentially(' has:li');
  await page.getByRole('option', { name: 'has: link' }).waitFor();
  await box.press('ArrowDown');
  await box.press('Enter');
  await page.getByRole('button', { name: 'Remove has: link' }).waitFor();
  await message(page, 'wakes').waitFor({ state: 'detached' });
  await article(page, id).getByText('aardvark').waitFor();
  await article(page, id).locator('a.time').click();
  await page.waitForURL(`**/topic/zoology?near=${id}`);
  await message(page, 'wakes').waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Remove has: link' }).click();
  await message(page, 'wakes').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('names in a search are resolved, unknown ones are refused beside the box, and a removed chip leaves the text', async () => {
  const { full_name: name } = web.system.people.member2;
  const id = await send('member2', 'okapi facts', 'The okapi yawns');
  await send('member', 'okapi facts', 'The okapi runs');
  const { page, faults } = await visit('member', '/search');
  const requests: string[] = [];
  page.on('request', (one) => void (one.url().includes('/json/messages?') && requests.push(one.url())));
  const box = page.getByRole('combobox', { name: 'Search messages' });
  const [first = '', second = ''] = name.split(' ');
  await box.fill('sender:nobody-like-this');
  await box.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'Nobody has a name that begins with “nobody-like-this”.' }).waitFor();
  await checkLook(page);
  expect(requests).toEqual([]);
  await box.fill('');
  await box.pressSequentially(`sender:${first.toLowerCase()} ${second.slice(0, 2).toLowerCase()}`);
  await page.getByRole('option', { name: `sender: ${name}` }).waitFor();
  await box.press('ArrowDown');
  await box.press('Enter');
  const chip = page.getByRole('button', { name: `Remove sender: ${name}` });
  await chip.waitFor();
  await box.fill('channel:gener topic:okapi f');
  await page.getByRole('option', { name: 'topic: okapi facts' }).waitFor();
  await box.press('ArrowDown');
  await box.press('Enter');
  await page.getByRole('button', { name: 'Remove topic: okapi facts' }).waitFor();
  await article(page, id).waitFor();
  await box.fill('runs');
  await chip.click();
  await message(page, 'The okapi').filter({ hasText: 'runs' }).waitFor();
  expect(await box.inputValue()).toBe('runs');
  await page.goto(`${web.system.url}/search?q=${encodeURIComponent('sender:me channel:gener okapi')}`);
  await message(page, 'The okapi').filter({ hasText: 'runs' }).waitFor();
  expect(await article(page, id).count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('search results appear and are counted as messages arrive', async () => {
  await send('member2', 'zoo', 'A capybara swims');
  const { page, faults } = await web.visit('member', '/search?q=capybara');
  await message(page, 'A capybara swims').waitFor();
  await send('member2', 'zoo', 'A lion sleeps');
  await send('member2', 'zoo', 'A capybara eats');
  await message(page, 'A capybara eats').locator('.highlight').waitFor();
  await page.getByRole('status').filter({ hasText: '1 new result at the end' }).waitFor();
  expect(await message(page, 'A lion sleeps').count()).toBe(0);
  await checkLook(page);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the people who have read a message are shown, and a failure can be repeated', async () => {
  const { page, faults } = await visit('owner', web.topicPath('receipts'));
  const reader = web.clientOf('member');
  const id = await send('owner', 'receipts', 'Read me');
  const own = article(page, id);
  await own.focus();
  await page.keyboard.press('V');
  const readers = page.getByRole('dialog', { name: 'Seen by' });
  await readers.getByText('Nobody has read this message yet.').waitFor();
  await page.keyboard.press('Escape');
  await readers.waitFor({ state: 'detached' });
  await reader.updateFlags({ messages: [id], op: 'add', flag: 'read' });
  const address = `**/json/messages/${id}/read_receipts*`;
  const fail = { status: 400, json: { result: 'error', msg: 'Not now', code: 'BAD_REQUEST' } };
  await page.route(address, (route) => route.fulfill(fail));
  await own.getByRole('button', { name: 'More actions' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Seen by' }).press('Enter');
  await readers.getByText('The people could not be loaded: Not now').waitFor();
  await checkLook(page);
  await page.unroute(address);
  await readers.getByRole('button', { name: 'Try again' }).press('Enter');
  await readers.getByText('1 person has read this message.').waitFor();
  await checkLook(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const { full_name } = await reader.getOwnUser();
  await page.getByRole('dialog', { name: full_name }).waitFor();
  await page.keyboard.press('Escape');
  const many = { result: 'success', msg: '', user_ids: Array.from({ length: 130 }, (_, index) => index + 1) };
  await page.route(address, (route) => route.fulfill({ json: many }));
  await own.focus();
  await page.keyboard.press('V');
  await readers.getByText('30 more: type a name.').waitFor();
  await checkLook(page);
  await readers.getByLabel('Find people').fill(full_name);
  await expect
    .poll(() => readers.getByRole('listitem').allTextContents())
    .toEqual([expect.stringContaining(full_name)]);
  await page.keyboard.press('Escape');
  await web.clientOf('owner').updateRealm({ enable_read_receipts: false });
  await own.getByRole('button', { name: 'More actions' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Copy link' }).waitFor();
  await expect.poll(() => page.getByRole('menuitem', { name: 'Seen by' }).count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

const filesOf = (name: string): string => `(() => {
  const data = new DataTransfer();
  data.items.add(new File(['text'], '${name}', { type: 'text/plain' }));
  return data;
})()`;

test('an edit has completion, files, emoji and a preview', async () => {
  const mia = (await web.clientOf('member2').getOwnUser()).full_name;
  const id = await send('member', 'editor', 'Ask');
  for (const text of ['one', 'two', 'three']) await send('owner', 'editor', `A long answer, part ${text}`);
  const { page, faults } = await visit('member', web.topicPath('editor'));
  const own = article(page, id);
  const editor = own.getByLabel('Text of the message');
  const option = (name: string) => page.getByRole('option', { name });
  await own.focus();
  await page.keyboard.press('e');
  await editor.pressSequentially(' @m');
  await option(mia).waitFor();
  // The message is the first on the page, where a list above it would be cut.
  expect(await page.getByRole('listbox').getAttribute('data-below')).toBe('true');
  await checkLook(page);
  await editor.press('Escape');
  await option(mia).waitFor({ state: 'detached' });
  await editor.pressSequentially(' @m');
  await option(mia).click();
  await editor.pressSequentially('in #gen');
  await option('#general').waitFor();
  await editor.press('Enter');
  await editor.press('Backspace');
  await editor.pressSequentially('>edi');
  await option('editor').waitFor();
  await editor.press('Tab');
  await editor.pressSequentially(':octop');
  await option(':octopus:').waitFor();
  await editor.press('Enter');
  const text = `Ask @m @**${mia}** in #**general>editor** :octopus: `;
  expect(await editor.inputValue()).toBe(text);
  const dropped = await page.evaluateHandle(filesOf('dropped.txt'));
  await own.locator('.editor').dispatchEvent('drop', { dataTransfer: dropped });
  await expect.poll(() => editor.inputValue()).toContain('[dropped.txt](/user_uploads/');
  await page.evaluate(`document.querySelector('.editor textarea').dispatchEvent(
    new ClipboardEvent('paste', { clipboardData: ${filesOf('pasted.txt')}, bubbles: true, cancelable: true }),
  )`);
  await expect.poll(() => editor.inputValue()).toContain('[pasted.txt](/user_uploads/');
  expect(await page.locator('#compose').inputValue()).toBe('');
  await own.getByRole('button', { name: 'Preview' }).click();
  await own.getByRole('region', { name: 'Preview' }).getByRole('link', { name: 'pasted.txt' }).waitFor();
  await checkLook(page);
  await own.getByRole('button', { name: 'Save' }).click();
  await own.locator('.content').getByRole('link', { name: 'dropped.txt' }).waitFor();
  await expect.poll(() => own.locator('.content .user-mention').count()).toBe(1);
  expect(faults).toEqual([]);
  await page.context().close();
});
