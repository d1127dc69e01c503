import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restingPlace } from '../list-place.ts';
import { checkLook } from '../web-look.ts';
import { openWeb, type PersonName, type Web } from '../web-visit.ts';

/** Polls, lists of tasks and followed topics in the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const send = async (name: PersonName, topic: string, content: string): Promise<number> =>
  (await web.clientOf(name).sendMessage({ type: 'channel', to: web.general, topic, content })).id;

test('all readers can vote in a poll created by command, and its author changes the question', async () => {
  const path = web.topicPath('poll');
  const [max, mia] = await Promise.all([web.visit('member', path), web.visit('member2', path)]);
  await mia.page.locator('#compose').fill('/poll Lunch?\npizza\nsoup');
  await mia.page.locator('#compose').press('Enter');
  const poll = (page: Page) => page.getByRole('region', { name: 'Poll: Lunch?' });
  const soup = poll(max.page).getByRole('button', { name: '0 votes: soup' });
  await soup.focus();
  await soup.press('Enter');
  await poll(mia.page).getByRole('button', { name: '1 vote: soup' }).click();
  await poll(max.page).getByRole('button', { name: '2 votes: soup', pressed: true }).waitFor();
  await poll(max.page).getByText('you and Mia Member').waitFor();
  await poll(max.page).getByRole('textbox', { name: 'New option' }).fill('salad');
  await max.page.keyboard.press('Enter');
  await poll(mia.page).getByRole('button', { name: '0 votes: salad' }).waitFor();
  await poll(max.page).getByRole('button', { name: '2 votes: soup' }).click();
  await poll(mia.page).getByRole('button', { name: '1 vote: soup', pressed: true }).waitFor();
  await checkLook(max.page);
  expect(await poll(max.page).getByRole('button', { name: 'Change the question' }).count()).toBe(0);
  await poll(mia.page).getByRole('button', { name: 'Change the question' }).click();
  await poll(mia.page).getByRole('textbox', { name: 'Question' }).fill('Supper?');
  await mia.page.keyboard.press('Enter');
  const changed = max.page.getByRole('region', { name: 'Poll: Supper?' });
  await changed.waitFor();
  await max.page.reload();
  await changed.getByRole('button', { name: '1 vote: soup' }).waitFor();
  await changed.getByRole('button', { name: '0 votes: salad' }).waitFor();
  expect([...max.faults, ...mia.faults]).toEqual([]);
  await Promise.all([max.page.context().close(), mia.page.context().close()]);
});

test('tasks are added and completed by all readers of the list', async () => {
  await send('member2', 'tasks', '/todo Moving\nboxes: twenty of them\ntape');
  const path = web.topicPath('tasks');
  const [max, mia] = await Promise.all([web.visit('member', path), web.visit('member2', path)]);
  const list = (page: Page) => page.getByRole('region', { name: 'Tasks: Moving' });
  await list(max.page).getByText('twenty of them').waitFor();
  const tape = (page: Page) => list(page).getByRole('checkbox', { name: 'tape' });
  await tape(max.page).press('Space');
  await expect.poll(() => tape(mia.page).isChecked()).toBe(true);
  await tape(mia.page).click();
  await expect.poll(() => tape(max.page).isChecked()).toBe(false);
  await list(max.page).getByRole('textbox', { name: 'New task' }).fill('van');
  await list(max.page).getByRole('textbox', { name: 'Description of the task' }).fill('a large one');
  await list(max.page).getByRole('button', { name: 'Add new task' }).click();
  await list(mia.page).getByRole('checkbox', { name: 'van: a large one' }).waitFor();
  const typed = () => Promise.all(['New task', 'Description of the task'].map(textIn));
  const textIn = (name: string) => list(max.page).getByRole('textbox', { name }).inputValue();
  await expect.poll(typed).toEqual(['', '']);
  await checkLook(max.page);
  expect([...max.faults, ...mia.faults]).toEqual([]);
  await Promise.all([max.page.context().close(), mia.page.context().close()]);
});

test('what is typed and opened in a message stays while its row is off the screen', async () => {
  await send('member2', 'far', '/poll Lunch?\npizza');
  await send('member2', 'far', '```spoiler The end\nThey sing\n```');
  for (let part = 1; part <= 40; part++) await send('member2', 'far', `Part ${part}\n\nof a long\n\nconversation`);
  const { page, faults } = await web.visit('member', web.topicPath('far'));
  const option = page.getByRole('textbox', { name: 'New option' });
  const spoiler = page.locator('details', { hasText: 'They sing' });
  const press = async (key: string): Promise<void> => {
    await page.locator('.messages').focus();
    await page.keyboard.press(key);
  };
  const toTop = () => page.locator('.messages').evaluate((list) => list.scrollTo(0, 0));
  const isThere = async (): Promise<boolean> => {
    await toTop();
    return (await option.count()) === 1 && (await spoiler.count()) === 1;
  };
  await expect.poll(isThere).toBe(true);
  await option.fill('soup');
  await page.getByText('The end').click();
  await page.getByText('They sing').waitFor();
  await press('End');
  await expect.poll(async () => (await option.count()) + (await spoiler.count())).toBe(0);
  // Waits until the list has stopped: while it scrolls to the end, it would leave any other place.
  await restingPlace(page);
  await expect.poll(isThere).toBe(true);
  expect(await option.inputValue()).toBe('soup');
  await page.getByText('They sing').waitFor();
  await option.press('Enter');
  await page.getByRole('button', { name: '0 votes: soup' }).waitFor();
  await expect.poll(() => option.inputValue()).toBe('');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('polls and tasks of other users cannot execute code or break the page', async () => {
  const hostile = '<img src=x onerror="globalThis.hacked = 1">';
  const mia = web.clientOf('member2');
  const poll = await send('member2', 'hostile', `/poll ${hostile}\n${hostile}\n${'W'.repeat(2_000)}`);
  await send('member2', 'hostile', `/todo ${hostile}\n${hostile}: ${hostile}`);
  const add = (content: string) => mia.addSubmessage({ message_id: poll, msg_type: 'widget', content });
  await add(JSON.stringify({ type: 'new_option', option: `${hostile} new`, idx: 0 }));
  await add(JSON.stringify({ type: 'vote', key: '__proto__', vote: 1 }));
  // A form of a bot, and a widget that is none.
  const odd = await send('member2', 'hostile', 'Without a widget');
  await mia.addSubmessage({ message_id: odd, msg_type: 'widget', content: '{"widget_type":"poll","extra_data":7}' });
  const { page, faults } = await web.visit('member', web.topicPath('hostile'));
  await page.getByRole('button', { name: `0 votes: ${hostile} new` }).waitFor();
  await page.getByRole('checkbox', { name: hostile }).waitFor();
  await page.getByRole('region', { name: 'Poll without a question' }).waitFor();
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect([faults, await page.evaluate('"hacked" in globalThis')]).toEqual([[], false]);
  await page.context().close();
});

test('a topic is followed, muted and reset in its menu, and the sidebar of every tab shows it', async () => {
  await send('member2', 'to follow', 'Something new');
  const { page, faults } = await web.visit('member', web.topicPath('to%20follow'));
  const other = await page.context().newPage();
  await other.goto(`${web.system.url}/inbox`);
  await page.bringToFront();
  const menu = page.getByRole('main').getByRole('button', { name: 'Actions on topic to follow' });
  const choose = async (name: string): Promise<void> => {
    await menu.press('Enter');
    // The menu gives the focus to its first item soon after it opened.
    await page.locator('[role=menuitemradio][data-highlighted]').waitFor();
    await page.getByRole('menuitemradio', { name, exact: true }).press('Enter');
    // The focus is back before the menu opens again.
    await expect.poll(() => page.evaluate('document.activeElement?.title')).toBe('Actions on this topic');
    await menu.press('Enter');
    await page.getByRole('menuitemradio', { name, exact: true, checked: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
  };
  const followed = (tab: Page) => tab.getByRole('list', { name: 'Followed topics' });
  await choose('Follow');
  await followed(page).getByRole('link', { name: 'to follow #general' }).waitFor();
  await followed(other).getByRole('link', { name: 'to follow #general' }).waitFor();
  await send('member2', 'to follow', 'Something newer');
  await checkLook(page);
  await choose('Mute');
  await followed(other).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Topics of general' }).click();
  await page.getByRole('link', { name: 'to follow muted' }).waitFor();
  const inList = page.getByRole('navigation').getByRole('button', { name: 'Actions on topic to follow' });
  await inList.click();
  await page.getByRole('menuitemradio', { name: 'Neither follow nor mute' }).click();
  await page.getByRole('link', { name: 'to follow muted' }).waitFor({ state: 'detached' });
  await checkLook(page);
  expect(faults).toEqual([]);
  await page.context().close();
});
