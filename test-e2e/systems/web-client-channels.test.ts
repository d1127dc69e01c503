import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLook, openDialog } from '../web-look.ts';
import { openWeb, type PersonName, type Visit, type Web, withoutLimits } from '../web-visit.ts';

/** Folders, settings and subscribers of channels in the web client, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb({ env: withoutLimits });
});
afterAll(() => web?.close());

const topicPath = (topic: string): string => `/channel/${web.general}/topic/${topic}`;
const idOf = (name: PersonName): number => web.system.people[name].user_id;

async function leave({ page, faults }: Visit): Promise<void> {
  expect(faults).toEqual([]);
  await page.context().close();
}

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
  const other = await web.visit('member', topicPath('elsewhere'));
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
