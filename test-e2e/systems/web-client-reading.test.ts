import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLook } from '../web-look.ts';
import { message, openWeb, type PersonName, type Web, withoutLimits } from '../web-visit.ts';

/** What readers do in the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb({ env: withoutLimits });
});
afterAll(() => web?.close());

async function send(name: PersonName, topic: string, content: string): Promise<number> {
  return (await web.clientOf(name).sendMessage({ type: 'channel', to: web.general, topic, content })).id;
}

const visit = (name: PersonName, path: string) => web.visit(name, path);
const topicPath = (topic: string): string => `/channel/${web.general}/topic/${topic}`;
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
    visit('member', topicPath('reactions')),
    visit('member2', topicPath('reactions')),
  ]);
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
  const [max, mia] = await Promise.all([visit('member', topicPath('changes')), visit('member2', topicPath('changes'))]);
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
  await menuOf(own);
  await page.getByRole('menuitem', { name: 'Delete…' }).press('Enter');
  await dialog(page).getByRole('button', { name: 'Delete' }).press('Enter');
  await article(mia.page, own).waitFor({ state: 'detached' });
  await article(page, own).waitFor({ state: 'detached' });
  expect([...max.faults, ...mia.faults]).toEqual([]);
  await Promise.all([page.context().close(), mia.page.context().close()]);
});

test('a quote names its author and links to the message', async () => {
  const id = await send('member2', 'quotes', 'To be quoted, with ```fences```');
  const { page, faults } = await visit('member', topicPath('quotes'));
  await readNewest(page, id);
  await page.keyboard.press('>');
  const compose = page.locator('#compose');
  await expect.poll(() => compose.inputValue()).toContain(`near/${id}`);
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
  const { page, faults } = await visit('member', topicPath('unread'));
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
