import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { message, openWeb, type Web } from '../web-visit.ts';

/** The tabs of one browser follow one event queue. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const path = (): string => web.topicPath('tabs');
const send = (content: string) =>
  web.clientOf('member2').sendMessage({ type: 'channel', to: web.general, topic: 'tabs', content });

/** Notes the queues that a page polls. */
function polled(page: Page): Set<string> {
  const queues = new Set<string>();
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/json/events') queues.add(searchParams.get('queue_id') ?? '');
  });
  return queues;
}

interface Tab {
  page: Page;
  queues: Set<string>;
}

/** Another tab of the same browser. */
async function openTab({ page }: Pick<Tab, 'page'>, at = path()): Promise<Tab> {
  const tab = await page.context().newPage();
  const queues = polled(tab);
  await tab.goto(web.system.url + at);
  await tab.getByRole('region', { name: 'Messages' }).waitFor();
  return { page: tab, queues };
}

/** Every message is on the page once, in order. */
async function expectOnce(page: Page, texts: readonly string[]): Promise<void> {
  await expect.poll(() => page.locator('[data-message] .content').allInnerTexts()).toEqual(texts);
}

test('one tab polls for all, and after it closes another continues without losing or duplicating an event', async () => {
  const first = await web.visit('member', path());
  const texts = ['one', 'two', 'three'];
  for (const text of texts.slice(0, 1)) await send(text);
  await message(first.page, 'one').waitFor();
  const firstQueues = polled(first.page);
  const second = await openTab(first);
  const third = await openTab(first);
  await send('two');
  for (const { page } of [first, second, third]) await expectOnce(page, ['one', 'two']);
  expect(second.queues.size + third.queues.size).toBe(0);
  await expect.poll(() => firstQueues.size).toBe(1);
  await Promise.all([first.page.close(), send('three')]);
  for (const { page } of [second, third]) await expectOnce(page, texts);
  await send('four');
  for (const { page } of [second, third]) await expectOnce(page, [...texts, 'four']);
  const [queues, none] = second.queues.size > 0 ? [second.queues, third.queues] : [third.queues, second.queues];
  expect([[...queues], none.size]).toEqual([[...firstQueues], 0]);
  expect(first.faults).toEqual([]);
  await second.page.context().close();
});

test('a page that returns from the back/forward cache has all events, and other tabs continued meanwhile', async () => {
  const { page, faults } = await web.visit('member', path());
  const other = await openTab({ page });
  await send('before it goes');
  for (const one of [page, other.page]) await message(one, 'before it goes').waitFor();
  const before = await page.locator('[data-message]').count();
  // A page in the back/forward cache gets these events, and runs nothing in between.
  await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
  await send('while it was away');
  await message(other.page, 'while it was away').waitFor();
  expect(await page.locator('[data-message]').count()).toBe(before);
  await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
  await message(page, 'while it was away').waitFor();
  await send('when it was back');
  for (const one of [page, other.page]) {
    await message(one, 'when it was back').waitFor();
    expect(await one.locator('[data-message]').count()).toBe(before + 2);
  }
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a new tab does not take a text that another tab is writing', async () => {
  const client = web.clientOf('member');
  const drafts = async () => (await client.getDrafts()).drafts.map(({ content }) => content);
  const box = (tab: Page) => tab.locator('#compose');
  const { page, faults } = await web.visit('member', path());
  const released = Promise.withResolvers<void>();
  await page.route('**/json/drafts', async (route) => {
    await released.promise;
    await route.continue();
  });
  await box(page).fill('Half a');
  const other = await openTab({ page });
  expect(await box(other.page).inputValue()).toBe('');
  await page.bringToFront();
  await box(page).fill('Half a sentence');
  released.resolve();
  // The server has the text, so every tab does.
  await expect.poll(() => box(other.page).inputValue()).toBe('Half a sentence');
  await box(page).press('Enter');
  await message(other.page, 'Half a sentence').waitFor();
  await expect.poll(() => box(other.page).inputValue()).toBe('');
  await expect.poll(drafts).toEqual([]);
  // The text of a tab that was closed is taken.
  await page.route('**/json/drafts', () => undefined);
  await box(page).fill('Left behind');
  await page.close();
  await other.page.reload();
  await expect.poll(() => box(other.page).inputValue()).toBe('Left behind');
  expect(faults).toEqual([]);
  await other.page.context().close();
});

/** The box of a new topic: the server gets its text with the message. */
const newTopicBox = (page: Page) => page.getByRole('textbox', { name: 'Message of a new topic' });

test('a text that only the browser has stays until its tab is gone and a new tab takes it', async () => {
  const channel = `/channel/${web.general}`;
  const first = await web.visit('member', channel);
  await newTopicBox(first.page).fill('Of the first tab');
  const second = await openTab(first, channel);
  await newTopicBox(second.page).fill('To be sent');
  await second.page.getByRole('textbox', { name: 'Topic', exact: true }).fill('sent by a tab');
  await newTopicBox(second.page).press('Enter');
  await message(second.page, 'To be sent').waitFor();
  await second.page.goto(web.system.url + channel);
  expect(await newTopicBox(second.page).inputValue()).toBe('');
  await first.page.close();
  await newTopicBox(second.page).fill('Of the second tab');
  const third = await openTab(second, channel);
  await expect.poll(() => newTopicBox(third.page).inputValue()).toBe('Of the first tab');
  // Two tabs go: one takes both texts.
  const empty = await third.page.context().newPage();
  for (const { page } of [second, third]) await page.close();
  const last = await openTab({ page: empty }, channel);
  const texts = async () => (await newTopicBox(last.page).inputValue()).split('\n\n').sort();
  await expect.poll(texts).toEqual(['Of the first tab', 'Of the second tab']);
  await newTopicBox(last.page).fill('');
  expect(first.faults).toEqual([]);
  await last.page.context().close();
});

test('each tab keeps the topic of its own new message', async () => {
  const channel = `/channel/${web.general}`;
  const topicField = ({ page }: { page: Page }) => page.getByRole('textbox', { name: 'Topic', exact: true });
  const first = await web.visit('member', channel);
  await topicField(first).fill('of the first tab');
  const second = await openTab(first, channel);
  await newTopicBox(second.page).waitFor();
  expect(await topicField(second).inputValue()).toBe('');
  await topicField(second).fill('of the second tab');
  await first.page.reload();
  await newTopicBox(first.page).waitFor();
  expect(await topicField(first).inputValue()).toBe('of the first tab');
  await second.page.close();
  await topicField(first).fill('');
  await first.page.reload();
  await newTopicBox(first.page).waitFor();
  expect(await topicField(first).inputValue()).toBe('of the second tab');
  await topicField(first).fill('');
  expect(first.faults).toEqual([]);
  await first.page.context().close();
});

test('a page that gets no more events leaves its text to a new tab', async () => {
  const channel = `/channel/${web.general}`;
  const { page } = await web.visit('member', channel);
  await newTopicBox(page).fill('Of the page that ended');
  await page.route('**/json/events**', (route) => route.fulfill({ status: 403, body: '<h1>Forbidden</h1>' }));
  await send('The next request is refused');
  await page.getByRole('heading', { name: 'Natter cannot be reached' }).waitFor();
  const next = await openTab({ page }, channel);
  await expect.poll(() => newTopicBox(next.page).inputValue()).toBe('Of the page that ended');
  await page.context().close();
});

test('a browser without locks gives each tab a queue of its own', async () => {
  const { page } = await web.visit('member', path());
  await page.context().addInitScript('delete Navigator.prototype.locks');
  const [one, two] = [await openTab({ page }), await openTab({ page })];
  await send('to both');
  for (const tab of [one, two]) await message(tab.page, 'to both').waitFor();
  expect(new Set([...one.queues, ...two.queues]).size).toBe(2);
  await page.context().close();
});
