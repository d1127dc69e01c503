import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restingPlace } from '../list-place.ts';
import { checkLook, openDialog } from '../web-look.ts';
import { leave, message, openWeb, type PersonName, type Web } from '../web-visit.ts';

/** Folders, settings and subscribers of channels in the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const idOf = (name: PersonName): number => web.system.people[name].user_id;

test('a channel that the reader has not joined has its name, is found by it, and can be joined', async () => {
  const owner = web.clientOf('owner');
  const { id: stream_id } = await owner.createChannel({ name: 'atrium', subscribers: [idOf('owner')] });
  await owner.sendMessage({ type: 'channel', to: stream_id, topic: 'plants', content: 'The palms are dry' });
  const visit = await web.visit('member', web.topicPath('doors'));
  const { page } = visit;
  await page.locator('#compose').fill('');
  await page.locator('#compose').pressSequentially('#atr');
  await page.getByRole('option', { name: /#atrium/ }).waitFor();
  await page.locator('#compose').fill('');
  await page.goto(`${web.system.url}/channel/${stream_id}/topic/plants`);
  await page.getByRole('heading', { level: 1, name: '#atrium › plants' }).waitFor();
  await page.getByText('The palms are dry').waitFor();
  await owner.updateChannel({ stream_id, new_name: 'winter garden' });
  await page.getByRole('heading', { level: 1, name: '#winter garden › plants' }).waitFor();
  await checkLook(page);
  await page.getByRole('button', { name: 'Subscribe winter garden' }).click();
  await page.locator('#compose').waitFor();
  await leave(visit);
});

test('messages that a reader missed without a subscription are shown when they open the channel again or subscribe', async () => {
  const owner = web.clientOf('owner');
  const { id: stream_id } = await owner.createChannel({ name: 'quarry', subscribers: [idOf('owner')] });
  const say = (content: string) => owner.sendMessage({ type: 'channel', to: stream_id, topic: 'stones', content });
  await say('The first stone');
  const visit = await web.visit('member', `/channel/${stream_id}/topic/stones`);
  const { page } = visit;
  await message(page, 'The first stone').waitFor();
  await page.getByRole('link', { name: 'Inbox' }).first().click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await say('The second stone');
  await page.goBack();
  await message(page, 'The second stone').waitFor();
  await say('The third stone');
  await page.getByRole('button', { name: 'Subscribe quarry' }).click();
  await page.locator('#compose').waitFor();
  await say('The fourth stone');
  await message(page, 'The fourth stone').waitFor();
  const texts = () => page.locator('[data-message] .content').allInnerTexts();
  const stones = ['first', 'second', 'third', 'fourth'].map((one) => `The ${one} stone`);
  await expect.poll(texts).toEqual(stones);
  await leave(visit);
});

/** Begins a load of messages, scrolls while it is held, and returns when it has ended. The list must have kept its place. */
async function scrollMeanwhile(page: Page, begin: () => Promise<void>, by: number): Promise<void> {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const path = '**/json/messages?*';
  await page.route(path, async (route) => {
    asked.resolve();
    await released.promise;
    await route.continue();
  });
  await begin();
  await asked.promise;
  await restingPlace(page);
  await page.locator('.messages').hover();
  await page.mouse.wheel(0, by);
  const before = await restingPlace(page);
  const answer = page.waitForResponse((one) => one.url().includes('/json/messages?') && one.ok());
  released.resolve();
  await answer;
  // The page handles the answers in their order.
  await page.evaluate("fetch('/json/server_settings').then((answer) => answer.text())");
  await page.unroute(path);
  const after = await restingPlace(page);
  expect(after.id).toBe(before.id);
  expect(Math.abs(after.top - before.top)).toBeLessThan(2);
}

test('a list that a reader scrolls while it is loaded again keeps their place', async () => {
  const owner = web.clientOf('owner');
  const { id: to } = await owner.createChannel({ name: 'canyon', subscribers: [idOf('owner')] });
  const say = (content: string) => owner.sendMessage({ type: 'channel', to, topic: 'stones', content });
  const textOf = (nth: number): string => `Stone ${nth}${'\n\nand its sand'.repeat(nth % 4)}`;
  const ids: number[] = [];
  while (ids.length < 150) {
    const sent = await Promise.all([...Array(10).keys()].map((one) => say(textOf(ids.length + one))));
    ids.push(...sent.map(({ id }) => id));
  }
  await owner.sendMessage({ type: 'channel', to: web.general, topic: 'map', content: 'See #**canyon>stones**' });
  const visit = await web.visit('member', web.topicPath('map'));
  const { page } = visit;
  const open = async (): Promise<void> => {
    await page.getByRole('link', { name: '#canyon > stones' }).click();
    await page.getByRole('heading', { level: 1, name: '#canyon › stones' }).waitFor();
    await page.locator('[data-message]').first().waitFor();
  };
  const leaveList = async (): Promise<void> => {
    await page.goBack();
    await message(page, 'See #canyon').waitFor();
  };
  /** The messages that were missing are there. */
  const seeNewest = async (text: string): Promise<void> => {
    await page.getByRole('button', { name: 'Newest messages' }).click();
    await message(page, text).waitFor();
  };
  await open();
  await restingPlace(page);
  await leaveList();
  await say('After the first visit');
  // Within the messages around the end, and beyond them.
  await scrollMeanwhile(page, open, -1_200);
  await seeNewest('After the first visit');
  const scrollUp = async (): Promise<number> => {
    await page.mouse.wheel(0, -20_000);
    return (await restingPlace(page)).id;
  };
  await expect.poll(scrollUp).toBeLessThan(ids[40] ?? 0);
  await leaveList();
  await say('After the second visit');
  await scrollMeanwhile(page, open, -100_000);
  await seeNewest('After the second visit');

  await page.mouse.wheel(0, -1_000);
  await restingPlace(page);
  await leaveList();
  await say('After the third visit');
  const goForward = async (): Promise<void> => void (await page.goForward());
  await scrollMeanwhile(page, goForward, -700);
  await seeNewest('After the third visit');

  await say('Before the subscription');
  const subscribe = async (): Promise<void> => page.getByRole('button', { name: 'Subscribe canyon' }).click();
  await scrollMeanwhile(page, subscribe, -900);
  await seeNewest('Before the subscription');
  await leave(visit);
});

test('folders are created and ordered, and the sidebar shows their channels, folded or not', async () => {
  await web.clientOf('owner').createChannel({ name: 'kitchen', subscribers: [idOf('owner'), idOf('member')] });
  const visit = await web.visit('owner');
  const { page } = visit;
  let dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name: 'Folders' }).click();
  await dialog.getByText('There are no folders yet.').waitFor();
  const name = dialog.getByLabel('Name of the folder');
  for (const one of ['House', 'Work']) {
    await name.fill(one);
    await name.press('Enter');
    await dialog.getByLabel(`New name of ${one}`).waitFor();
    // The event of the folder may come before the answer, which ends the request.
    await expect.poll(() => name.inputValue()).toBe('');
  }
  await dialog.getByRole('button', { name: 'Up Work' }).click();
  await dialog.getByText('The order is changed.').waitFor();
  await checkLook(page);
  await dialog.getByRole('button', { name: 'Close' }).click();
  dialog = await openDialog(page, 'Channels');
  for (const [channel, folder] of [
    ['kitchen', 'House'],
    ['general', 'Work'],
  ] as const) {
    await dialog.getByRole('button', { name: `Details of ${channel}` }).click();
    await dialog.getByLabel('Folder in the sidebar').selectOption(folder);
    await dialog.getByText('Saved.').waitFor();
  }
  await dialog.getByRole('button', { name: 'Close' }).click();

  // The combined feed would mark messages as read.
  const other = await web.visit('member', web.topicPath('elsewhere'));
  const sidebar = other.page.getByRole('navigation', { name: 'Conversations' });
  await sidebar.getByRole('list', { name: 'House' }).getByRole('link', { name: 'kitchen' }).waitFor();
  const folders = async (): Promise<string[]> => {
    const headings = await sidebar.getByRole('heading').allTextContents();
    return headings.map((text) => text.replace(/[▾▸]/u, '')).filter((text) => /House|Work/.test(text));
  };
  await expect.poll(folders).toEqual(['Work', 'House']);
  await sidebar.getByRole('button', { name: 'House', expanded: true }).press('Enter');
  await sidebar.getByRole('link', { name: 'kitchen' }).waitFor({ state: 'detached' });
  await web.clientOf('owner').sendMessage({ type: 'channel', to: 'kitchen', topic: 'tea', content: 'Ready' });
  await sidebar.getByRole('button', { name: /^House\s*\d+ unread/, expanded: false }).waitFor();
  await other.page.reload();
  await sidebar.getByRole('button', { name: /^House\s*\d+ unread/, expanded: false }).waitFor();
  await checkLook(other.page);
  await leave(other);
  await leave(visit);
});

test('an administrator changes a channel, its senders and its readers', async () => {
  await web.clientOf('owner').createChannel({ name: 'garden', subscribers: [idOf('owner')] });
  const { stream_id } = await web.clientOf('owner').getStreamId({ stream: 'garden' });
  const visit = await web.visit('owner');
  const { page } = visit;
  const dialog = await openDialog(page, 'Channels');
  await dialog.getByRole('button', { name: 'Details of garden' }).click();
  const subscribers = dialog.getByRole('list', { name: 'Subscribers of garden' });
  const { full_name } = web.system.people.member;
  const person = dialog.getByLabel('Subscribe a person');
  await person.fill(full_name);
  await person.press('Enter');
  await subscribers.getByText(full_name, { exact: true }).waitFor();
  const readers = async () => (await web.clientOf('owner').getSubscribers({ stream_id })).subscribers;
  await expect.poll(readers).toContain(idOf('member'));
  await dialog.getByLabel('Send messages').selectOption('Administrators');
  await dialog.getByText('Saved.').waitFor();
  const post = web.clientOf('member').sendMessage({ type: 'channel', to: stream_id, topic: 'x', content: 'Hello' });
  await expect(post).rejects.toThrow();
  await checkLook(page);
  await dialog.getByLabel('Access').selectOption('Private; new subscribers do not see older messages');
  const channel = async () => (await web.clientOf('owner').getChannel({ stream_id })).stream as unknown;
  await expect.poll(channel).toMatchObject({ invite_only: true, history_public_to_subscribers: false });
  await dialog.getByLabel('Name of the channel').fill('orchard');
  await dialog.getByRole('button', { name: 'Save the name' }).click();
  await dialog.getByRole('button', { name: 'Details of orchard' }).waitFor();
  await dialog.getByRole('button', { name: `Remove ${full_name}` }).click();
  await expect.poll(readers).toEqual([idOf('owner')]);

  const other = await web.visit('member');
  const theirs = await openDialog(other.page, 'Channels');
  await theirs.getByRole('button', { name: 'Details of general' }).click();
  await theirs.getByRole('list', { name: 'Subscribers of general' }).waitFor();
  expect(await theirs.getByLabel('Send messages').count()).toBe(0);
  expect(await theirs.getByText('orchard').count()).toBe(0);
  await leave(other);

  await dialog.getByRole('button', { name: 'Archive orchard' }).click();
  await dialog.getByRole('button', { name: 'Archive orchard' }).click();
  await dialog.getByRole('button', { name: 'Details of orchard' }).waitFor({ state: 'detached' });
  await leave(visit);
});

test('an archived channel says so and is not loaded again, and a channel that the reader was removed from keeps its name', async () => {
  const owner = web.clientOf('owner');
  const subscribers = [idOf('owner'), idOf('member')];
  const { id: stream_id } = await owner.createChannel({ name: 'vault', subscribers, invite_only: true });
  const { id: attic } = await owner.createChannel({ name: 'attic', subscribers });
  const visit = await web.visit('member', `/channel/${stream_id}/topic/keys`);
  const { page } = visit;
  await page.locator('#compose').fill('Where is the key?');
  const drafts = async () => (await web.clientOf('member').getDrafts()).drafts.map(({ content }) => content);
  await expect.poll(drafts).toContain('Where is the key?');
  await owner.unsubscribe({ subscriptions: ['vault'], principals: [idOf('member')] });
  await page.getByText('You are not subscribed to this channel.').waitFor();
  await page.getByRole('heading', { level: 1, name: '#vault › keys' }).waitFor();
  await page.getByRole('button', { name: /^Drafts/ }).click();
  await page.getByRole('dialog').getByText('#vault › keys').waitFor();
  await page.goto(`${web.system.url}/channel/${stream_id}/topic/keys`);
  await page.getByRole('heading', { level: 1, name: `#Unknown channel ${stream_id} › keys` }).waitFor();
  await page.goto(`${web.system.url}/channel/${attic}/topic/boxes`);
  await page.locator('#compose').waitFor();
  await owner.archiveChannel({ stream_id: attic });
  await page.getByText('This channel is archived.').waitFor();
  await checkLook(page);
  const loads: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/json/messages?')) loads.push(request.url());
  });
  for (let nth = 0; nth < 2; nth++) {
    await page.getByRole('link', { name: 'Inbox' }).first().click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.goBack();
    await page.getByText('This channel is archived.').waitFor();
  }
  expect(loads).toEqual([]);
  await leave(visit);
});
