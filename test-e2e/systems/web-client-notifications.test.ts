import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { checkLook, openDialog } from '../web-look.ts';
import { message, openWeb, type Visit, type Web } from '../web-visit.ts';

/** Notifications on the desktop, in Chromium. A stand-in records the notifications that the desktop would show. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

/**
 * Records notifications, and lets a test decide whether a tab has the focus. The permission is kept like a browser keeps it.
 * A tab reads of the local storage only what it found at its start and wrote itself: browsers tell it of the rest later.
 */
const recorder = `
  globalThis.notified = [];
  globalThis.asked = 0;
  // An empty page has no storage.
  const own = location.origin === 'null' ? {} : { ...localStorage };
  const { setItem, removeItem } = Storage.prototype;
  Object.assign(Storage.prototype, {
    getItem: (name) => own[name] ?? null,
    setItem(name, text) {
      own[name] = text;
      setItem.call(this, name, text);
    },
    removeItem(name) {
      delete own[name];
      removeItem.call(this, name);
    },
  });
  globalThis.Notification = class {
    static get permission() { return localStorage.getItem('test permission') ?? 'default'; }
    static async requestPermission() {
      globalThis.asked++;
      localStorage.setItem('test permission', 'granted');
      return 'granted';
    }
    constructor(title, options) {
      this.title = title;
      this.body = options.body;
      this.isOpen = true;
      globalThis.notified.push(this);
    }
    close() { this.isOpen = false; }
  };
  // How often a tab has looked whether a message is on screen in another one.
  globalThis.looks = 0;
  if (globalThis.LockManager) {
    const { query } = LockManager.prototype;
    LockManager.prototype.query = async function () {
      const found = await query.call(this);
      globalThis.looks++;
      return found;
    };
  }
  let hasFocus = true;
  document.hasFocus = () => hasFocus;
  globalThis.setFocus = (value) => {
    hasFocus = value;
    dispatchEvent(new Event(value ? 'focus' : 'blur'));
  };
`;

interface Notified {
  title: string;
  body: string;
  isOpen: boolean;
}
const notifiedIn = (page: Page): Promise<Notified[]> =>
  page.evaluate('notified.map(({title, body, isOpen}) => ({title, body, isOpen}))');

async function visitWithRecorder(path: string): Promise<Visit> {
  const visit = await web.visit('member', path);
  await visit.page.context().addInitScript(recorder);
  await visit.page.reload();
  await visit.page.locator('main.conversation').waitFor();
  return visit;
}

/** Another tab of the same browser. */
async function openTab({ page, faults }: Visit, path: string): Promise<Page> {
  const tab = await page.context().newPage();
  tab.on('pageerror', ({ message: text }) => faults.push(text));
  await tab.goto(web.system.url + path);
  await tab.locator('main.conversation').waitFor();
  await tab.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
  return tab;
}

async function allow(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Settings' }).click();
  const dialog = page.getByRole('dialog', { name: 'Settings' });
  await dialog.getByRole('button', { name: 'Notifications' }).click();
  expect(await page.evaluate('asked')).toBe(0);
  await dialog.getByText('does not show notifications yet').waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Allow notifications in this browser' }).click();
  await dialog.getByText('This browser shows notifications while').waitFor();
  expect(await page.evaluate('asked')).toBe(1);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

const write = (content: string) =>
  web.clientOf('member2').sendMessage({ type: 'direct', to: [web.system.people.member.user_id], content });
const say = (topic: string, content: string) =>
  web.clientOf('member2').sendMessage({ type: 'channel', to: web.general, topic, content });

test('after permission, direct messages and mentions notify once in all tabs, and a click opens them', async () => {
  const visit = await visitWithRecorder('/inbox');
  const { page, faults } = visit;
  await write('Before it was allowed');
  await page
    .getByRole('main')
    .getByRole('link', { name: /Mia Member/ })
    .waitFor();
  expect(await notifiedIn(page)).toEqual([]);
  await allow(page);
  const other = await openTab(visit, '/starred');
  const name = (await web.clientOf('member').getOwnUser()).full_name;
  await write('A **secret** <b>word</b>\n```spoiler Title\nThe end\n```');
  await say('plain', 'Without a notification');
  const { id } = await say('<i>topic</i>', `@**${name}** look`);
  const both = async (): Promise<Notified[]> => [...(await notifiedIn(page)), ...(await notifiedIn(other))];
  await expect.poll(async () => (await both()).length).toBe(2);
  // After a later message was announced, all earlier announcements have been made.
  await write('The last one');
  await expect.poll(async () => (await both()).length).toBe(3);
  const notified = await both();
  expect(notified.map(({ title, body }) => `${title}: ${body}`).sort()).toEqual([
    `Mia Member (#general › <i>topic</i>): @${name} look`,
    'Mia Member: A secret <b>word</b> Title',
    'Mia Member: The last one',
  ]);
  const notifier = (await notifiedIn(page)).some(({ title }) => title.includes('topic')) ? page : other;
  await notifier.evaluate(`notified.find(({title}) => title.includes('topic')).onclick()`);
  await notifier.waitForURL(`**/topic/*?near=${id}`);
  await message(notifier, 'look').waitFor();
  await web.clientOf('member').updateFlagsForNarrow({
    narrow: [{ operator: 'is', operand: 'dm' }],
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    op: 'add',
    flag: 'read',
  });
  await expect.poll(async () => (await both()).filter(({ isOpen }) => isOpen)).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a conversation that is read in one tab does not notify in any tab until that tab loses the focus', async () => {
  const visit = await visitWithRecorder(`/dm/${web.system.people.member2.user_id}`);
  const { page, faults } = visit;
  await allow(page);
  const other = await openTab(visit, '/starred');
  await other.evaluate('setFocus(false)');
  await write('Seen at once');
  await message(page, 'Seen at once').waitFor();
  // Waits until the tab that may show the notification has decided.
  const looks = async (): Promise<number> =>
    Number(await page.evaluate('looks')) + Number(await other.evaluate('looks'));
  await expect.poll(looks).toBeGreaterThan(0);
  await page.evaluate('setFocus(false)');
  await write('Not seen');
  const both = async (): Promise<string[]> =>
    [...(await notifiedIn(page)), ...(await notifiedIn(other))].map(({ body }) => body);
  await expect.poll(both).toEqual(['Not seen']);
  expect(faults).toEqual([]);
  await page.context().close();
});

type Term = { operator: string; operand: number | number[] };
/** The unread messages of the member in a narrow. */
async function unreadIn(narrow: Term[]): Promise<number[]> {
  const params = { anchor: 'newest' as const, num_before: 100, num_after: 0 };
  const { messages } = await web.clientOf('member').getMessages({ ...params, narrow });
  return messages.filter(({ flags }) => !flags.includes('read')).map(({ id }) => id);
}

test('a message on screen stays unread, with its notification, until the window has the focus', async () => {
  await web.clientOf('member').markAllRead();
  const { user_id } = web.system.people.member2;
  const visit = await visitWithRecorder(`/dm/${user_id}`);
  const { page, faults } = visit;
  await allow(page);
  const other = await openTab(visit, web.topicPath('elsewhere'));
  const isOpen = async (): Promise<boolean[]> =>
    [...(await notifiedIn(page)), ...(await notifiedIn(other))].map(({ isOpen }) => isOpen);
  await page.evaluate('setFocus(false)');
  const { id } = await write('While another window has the focus');
  await message(page, 'While another window has the focus').waitFor();
  await expect.poll(isOpen).toEqual([true]);
  // The other tab marks a later message as read: this tab would have done so before.
  const later = await say('elsewhere', 'In the window with the focus');
  await message(other, 'In the window with the focus').waitFor();
  await expect.poll(() => unreadIn([{ operator: 'id', operand: later.id }])).toEqual([]);
  expect(await unreadIn([{ operator: 'dm', operand: [user_id] }])).toEqual([id]);
  expect(await isOpen()).toEqual([true]);
  await page.evaluate('setFocus(true)');
  await expect.poll(() => unreadIn([{ operator: 'dm', operand: [user_id] }])).toEqual([]);
  await expect.poll(isOpen).toEqual([false]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a message that was seen just before the page is left is marked as read', async () => {
  await web.clientOf('member').markAllRead();
  const { user_id } = web.system.people.member2;
  const { page, faults } = await web.visit('member', `/dm/${user_id}`);
  const unread = (): Promise<number[]> => unreadIn([{ operator: 'dm', operand: [user_id] }]);
  for (const text of ['Marked at once', 'Marked with the next ones']) {
    await expect.poll(unread).toEqual([]);
    await write(text);
    await message(page, text).waitFor();
  }
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  expect(faults).toEqual([]);
  await page.goto('about:blank');
  await expect.poll(unread).toEqual([]);
  await page.context().close();
});

test('the title and the icon of the page count unread messages', async () => {
  const reader = web.clientOf('member');
  await reader.markAllRead();
  const { page, faults } = await web.visit('member', '/starred');
  const icon = (): Promise<string | null> => page.locator('link[rel=icon]').getAttribute('href');
  await expect.poll(icon).toBe('/assets/icon.svg');
  for (const text of ['one', 'two']) await write(text);
  await expect.poll(icon).toBe('/assets/unread-2.svg');
  await expect.poll(() => page.title()).toMatch(/^\(2\) Starred messages/);
  for (let count = 0; count < 8; count++) await write('more');
  await expect.poll(icon).toBe('/assets/unread-more.svg');
  for (const name of ['2', 'more']) {
    const answer = await fetch(`${web.system.url}/assets/unread-${name}.svg`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  }
  await reader.markAllRead();
  await expect.poll(icon).toBe('/assets/icon.svg');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a person adds and removes alert words, and messages with them notify', async () => {
  const visit = await visitWithRecorder('/inbox');
  const { page } = visit;
  const client = web.clientOf('member');
  await client.addAlertWords({ alert_words: ['<b>outage</b>'] });
  await page.evaluate(`Notification.requestPermission()`);
  const dialog = await openDialog(page, 'Settings');
  await dialog.getByRole('button', { name: 'Notifications' }).click();
  const words = dialog.getByRole('list', { name: 'Alert words' }).getByRole('listitem');
  await expect.poll(() => words.count()).toBe(1);
  const field = dialog.getByLabel('New alert word');
  await field.fill(' deploy ');
  await page.keyboard.press('Enter');
  await dialog.getByText('The word is added.').waitFor();
  await expect.poll(() => words.locator('bdi').allTextContents()).toEqual(['<b>outage</b>', 'deploy']);
  expect([await field.inputValue(), (await client.getAlertWords()).alert_words]).toEqual([
    '',
    ['<b>outage</b>', 'deploy'],
  ]);
  await checkLook(page);
  const remove = dialog.getByRole('button', { name: 'Remove <b>outage</b>' });
  await remove.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => words.locator('bdi').allTextContents()).toEqual(['deploy']);
  await field.and(page.locator(':focus')).waitFor();
  // Another device adds one.
  await client.addAlertWords({ alert_words: ['rollback'] });
  await expect.poll(() => words.locator('bdi').allTextContents()).toEqual(['deploy', 'rollback']);
  await say('words', 'We deploy at noon');
  await expect.poll(async () => (await notifiedIn(page)).map(({ body }) => body)).toEqual(['We deploy at noon']);
  await page.goto(`${web.system.url}/channel/${web.general}/topic/words`);
  await say('words', '**Rollback** of `deploy`, no redeploy: <mark>deploy</mark> ~~[deploy](https://deploy.example)~~');
  const marks = message(page, 'no redeploy').locator('mark.alert-word');
  await expect.poll(() => marks.allTextContents()).toEqual(['Rollback', 'deploy', 'deploy', 'deploy']);
  await checkLook(page);
  await client.removeAlertWords({ alert_words: ['deploy'] });
  await expect.poll(() => marks.allTextContents()).toEqual(['Rollback']);
  expect(visit.faults).toEqual([]);
  await page.context().close();
});
