import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { logInAt, message, openWeb, type PersonName, type Web } from '../web-visit.ts';

/** The web client when answers are lost, tabs are closed, storage is full, and another person logs in. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const box = (page: Page) => page.locator('#compose');
async function visit(topic: string): Promise<Page> {
  const { page } = await web.visit('member', web.topicPath(topic));
  await box(page).waitFor();
  return page;
}
/** Closes a page, and returns an empty one of the same browser, without its routes. */
async function closed(page: Page): Promise<Page> {
  const next = await page.context().newPage();
  await page.close();
  return next;
}
/**
 * Requests of a page whose path begins with this get no answer, and never leave the page. Not by a route: a request that
 * a route holds when the page is closed is sent after all.
 */
const answerNothing = (page: Page, path: string): Promise<void> =>
  page.evaluate((start) => {
    const { fetch } = window;
    window.fetch = (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input, location.href);
      return pathname.startsWith(start) ? new Promise(() => undefined) : fetch(input, init);
    };
  }, path);
const drafts = async () => (await web.clientOf('member').getDrafts()).drafts.map(({ content }) => content.trim());

/** The Markdown of the messages of a topic, with the IDs of their senders. */
async function messagesOf(topic: string): Promise<[string, number][]> {
  const narrow = [
    { operator: 'channel', operand: web.general },
    { operator: 'topic', operand: topic },
  ];
  const params = { anchor: 'newest', num_before: 50, num_after: 0, narrow, apply_markdown: false } as const;
  const { messages } = await web.clientOf('owner').getMessages(params);
  return messages.map(({ content, sender_id }) => [String(content), Number(sender_id)]);
}
const contentsOf = async (topic: string) => (await messagesOf(topic)).map(([content]) => content);

test('a message whose response was lost is shown once after a reload', async () => {
  let page = await visit('once');
  // The page gets no events: one would say that the message was sent.
  await page.route('**/json/events**', () => undefined);
  await page.reload();
  await box(page).waitFor();
  await page.route('**/json/messages', async (route) => {
    if (route.request().method() === 'POST') await route.fetch();
    await route.abort();
  });
  await box(page).fill('Exactly once');
  await box(page).press('Enter');
  await expect.poll(() => contentsOf('once')).toEqual(['Exactly once']);
  page = await closed(page);
  const isSend = (one: Request): boolean => one.url().endsWith('/json/messages') && one.method() === 'POST';
  // A busy system may have no time for the first attempt.
  const again = page.waitForResponse((one) => isSend(one.request()) && one.status() !== 503);
  await page.goto(web.system.url + web.topicPath('once'));
  expect((await again).status()).toBe(200);
  await message(page, 'Exactly once').waitFor();
  await expect.poll(() => page.locator('[data-outgoing]').count()).toBe(0);
  expect(await contentsOf('once')).toEqual(['Exactly once']);
  await page.context().close();
});

test('a second tab keeps the unsent messages of the first', async () => {
  const page = await visit('tabs');
  const other = await page.context().newPage();
  await other.goto(web.system.url + web.topicPath('tabs'));
  await box(other).waitFor();
  await page.route('**/json/messages', (route) => route.abort());
  await box(page).fill('From the first tab');
  await box(page).press('Enter');
  await page.locator('[data-outgoing]').waitFor();
  await box(other).fill('From the second tab');
  await box(other).press('Enter');
  await message(other, 'From the second tab').waitFor();
  await page.close();
  await other.reload();
  await message(other, 'From the first tab').waitFor();
  expect((await contentsOf('tabs')).sort()).toEqual(['From the first tab', 'From the second tab']);
  await other.context().close();
});

test('a page that was closed early does not delete drafts that it had not loaded', async () => {
  let page = await visit('drafts');
  await box(page).fill('A short text');
  await expect.poll(drafts).toContain('A short text');
  await answerNothing(page, '/json/drafts');
  await box(page).press('Enter');
  await message(page, 'A short text').waitFor();
  page = await closed(page);
  const member = web.clientOf('member');
  for (const { id } of (await member.getDrafts()).drafts) await member.deleteDraft({ draft_id: id });
  const draft = { type: 'stream' as const, to: [web.general], topic: 'drafts', content: 'Written on a phone' };
  await member.createDrafts({ drafts: [draft] });
  await page.goto(web.system.url + web.topicPath('drafts'));
  await expect.poll(() => box(page).inputValue()).toBe('Written on a phone');
  // The page changes drafts one after the other, so an earlier deletion would have come before this text.
  await page.goto(web.system.url + web.topicPath('more drafts'));
  await box(page).fill('Another text');
  await expect.poll(drafts).toContain('Another text');
  expect(await drafts()).toContain('Written on a phone');
  await page.context().close();
});

test('messages are sent while the storage of the browser is full', async () => {
  const page = await visit('full');
  await page.evaluate(`for (let text = 'x'.repeat(1 << 20), i = 0; text !== ''; i++)
    try { localStorage.setItem('fill' + i, text); } catch { text = text.slice(0, text.length >> 1); }`);
  await box(page).fill('No space');
  await box(page).press('Enter');
  await expect.poll(() => contentsOf('full')).toEqual(['No space']);
  await message(page, 'No space').waitFor();
  await page.context().close();
});

test('a page does not send as another user who logged in meanwhile', async () => {
  const page = await visit('persons');
  // Written before, because the page may show the other person as soon as they have logged in.
  await box(page).fill('A text of the first person');
  const other = await page.context().newPage();
  const name: PersonName = 'member2';
  const { full_name } = web.system.people[name];
  await other.goto(`${web.system.url}/accounts/login`);
  await logInAt(other, web.system.people[name]);
  await box(page).press('Enter');
  await page.getByRole('button', { name: `Account of ${full_name}` }).waitFor();
  await box(page).fill('A text of the second person');
  await box(page).press('Enter');
  await message(page, 'A text of the second person').waitFor();
  const { user_id } = web.system.people[name];
  expect(await messagesOf('persons')).toEqual([['A text of the second person', user_id]]);
  await page.context().close();
});

test('an upload with lost responses is created once, and one of a changed file is cancelled', async () => {
  const path = join(tmpdir(), `natter-upload-${process.pid}.bin`);
  await writeFile(path, Buffer.alloc(3_000_000));
  const page = await visit('uploads');
  const ids: unknown[] = [];
  await page.route('**/json/tus', async (route) => {
    const response = await route.fetch();
    // A busy system may refuse the request, and the page repeats it.
    if (response.status() === 503) return route.fulfill({ response });
    ids.push(((await response.json()) as { upload_id: string }).upload_id);
    if (ids.length === 1) return route.abort();
    await writeFile(path, Buffer.alloc(2_000_000));
    await route.fulfill({ response });
  });
  await page.locator('input[type=file]').first().setInputFiles(path);
  await page.locator('.uploads [role=alert]').filter({ hasText: 'changed, moved or deleted' }).waitFor();
  expect(ids).toEqual([ids[0], ids[0]]);
  await page.context().close();
});

test('a part of the page that an outage prevented is loaded when the server responds', async () => {
  const page = await visit('parts');
  const isOut = { value: true, refused: 0 };
  await page.route(/assets\/shortcuts-dialog|\/$/, async (route) => {
    if (!isOut.value) return route.continue();
    isOut.refused++;
    await route.abort();
  });
  await box(page).fill('A text');
  await box(page).press('Escape');
  await page.keyboard.press('?');
  await expect.poll(() => isOut.refused).toBeGreaterThan(2);
  expect(await box(page).inputValue()).toBe('A text');
  isOut.value = false;
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  expect(await box(page).inputValue()).toBe('A text');
  await page.context().close();
});

test('a page says that it gets no more events if a proxy refuses them, and continues after a reload', async () => {
  const page = await visit('refused');
  await page.route('**/json/events**', (route) => route.fulfill({ status: 403, body: '<h1>Forbidden</h1>' }));
  const before = 'Before the refusal';
  await web.clientOf('owner').sendMessage({ type: 'channel', to: web.general, topic: 'refused', content: before });
  await page.getByRole('heading', { name: 'Natter cannot be reached' }).waitFor();
  expect(await page.getByRole('alert').textContent()).toBe('HTTP 403');
  await page.unroute('**/json/events**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await message(page, before).waitFor();
  await page.context().close();
});

test('a page that was closed early does not change a draft that another device changed', async () => {
  let page = await visit('changed');
  await box(page).fill('Begun here');
  await expect.poll(drafts).toContain('Begun here');
  await answerNothing(page, '/json/drafts/');
  await box(page).press('Enter');
  await message(page, 'Begun here').waitFor();
  page = await closed(page);
  const member = web.clientOf('member');
  const found = (await member.getDrafts()).drafts.find(({ content }) => content.trim() === 'Begun here');
  const draft = { type: 'stream' as const, to: [web.general], topic: 'changed', content: 'Continued on a phone' };
  await member.editDraft({ draft_id: found?.id ?? 0, draft });
  await page.goto(web.system.url + web.topicPath('changed'));
  await expect.poll(() => box(page).inputValue()).toBe('Continued on a phone');
  await page.goto(web.system.url + web.topicPath('later'));
  await box(page).fill('A later text');
  await expect.poll(drafts).toContain('A later text');
  expect(await drafts()).toContain('Continued on a phone');
  await page.context().close();
});

test('the text of an edited message that others delete is in the compose box, and a notice informs of a move', async () => {
  const [member, owner] = [web.clientOf('member'), web.clientOf('owner')];
  const send = async (content: string): Promise<number> =>
    (await member.sendMessage({ type: 'channel', to: web.general, topic: 'erased', content })).id;
  const [moved, deleted] = [await send('To be moved'), await send('To be deleted')];
  const page = await visit('erased');
  const notice = page.getByRole('alert').filter({ hasText: 'The message that you' });
  const editor = page.getByRole('textbox', { name: 'Text of the message' });
  const edit = async (id: number): Promise<void> => {
    await page.locator(`[data-message="${id}"]`).focus();
    await page.keyboard.press('e');
    await editor.waitFor();
  };
  await edit(moved);
  await editor.fill('Moved, and changed');
  await owner.updateMessage({ message_id: moved, topic: 'elsewhere', propagate_mode: 'change_one' });
  await notice.getByText('was moved to #general › elsewhere').waitFor();
  await notice.getByRole('button', { name: 'Close' }).click();
  await edit(deleted);
  await editor.fill('A better text');
  await box(page).fill('Begun before');
  await owner.deleteMessage({ message_id: deleted });
  await notice.getByText('Your text is now in the compose box of #general › erased').waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await expect.poll(() => box(page).inputValue()).toBe('Begun before\nA better text');
  await page.goto(web.system.url + web.topicPath('elsewhere'));
  await message(page, 'To be moved').waitFor();
  await edit(moved);
  expect(await editor.inputValue()).toBe('Moved, and changed');
  await page.context().close();
});

test('a rewritten scheduled message is kept when its dialog is closed, until it is cancelled', async () => {
  const due = Math.floor(Date.now() / 1_000) + 86_400;
  const params = { type: 'channel', to: web.general, topic: 'planned', scheduled_delivery_timestamp: due } as const;
  await web.clientOf('member').createScheduledMessage({ ...params, content: 'For tomorrow' });
  const page = await visit('planned');
  const dialog = page.getByRole('dialog', { name: 'Drafts and scheduled messages' });
  const text = dialog.getByLabel('Text');
  const open = () => page.getByRole('button', { name: /^Scheduled messages/ }).click();
  await open();
  await dialog.getByRole('button', { name: 'Edit' }).click();
  await text.fill('Rewritten');
  await text.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  await open();
  expect(await text.inputValue()).toBe('Rewritten');
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await text.waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Edit' }).click();
  expect(await text.inputValue()).toBe('For tomorrow');
  await page.context().close();
});

test('a draft can be read in full and copied where its writer has no compose box any more', async () => {
  const [member, owner] = [web.clientOf('member'), web.clientOf('owner')];
  const { user_id } = web.system.people.member;
  const create = async (name: string): Promise<number> =>
    (await owner.createChannel({ name, subscribers: [user_id, web.system.people.owner.user_id] })).id;
  const [left, archived] = [await create('left'), await create('archived')];
  const text = (name: string): string => ['A', 'long', 'text', 'for', 'the channel', name].join('\n');
  const draft = (id: number, name: string) => ({
    type: 'stream' as const,
    to: [id],
    topic: 'drafts',
    content: text(name),
  });
  await member.createDrafts({ drafts: [draft(left, 'left'), draft(archived, 'archived')] });
  await owner.unsubscribe({ subscriptions: ['left'], principals: [user_id] });
  await owner.archiveChannel({ stream_id: archived });
  const page = await visit('readable');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: web.system.url });
  await page.getByRole('button', { name: /^Drafts \d/ }).click();
  for (const name of ['left', 'archived']) {
    const card = page
      .getByRole('dialog')
      .getByRole('listitem')
      .filter({ hasText: `the channel\n${name}` });
    const height = async (): Promise<number> => (await card.locator('.excerpt').boundingBox())?.height ?? 0;
    const before = await height();
    await card.getByRole('button', { name: 'Show the whole text' }).press('Enter');
    await expect.poll(height).toBeGreaterThan(before);
    await card.getByRole('button', { name: 'Copy' }).press('Enter');
    await card.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text(name));
    expect(await card.getByRole('button', { name: 'Continue writing' }).count()).toBe(name === 'left' ? 1 : 0);
  }
  expect(await findingsOf(page)).toEqual([]);
  await page.context().close();
});

test('the topic of a new message is kept with its text, on another page and on a reload, until it is sent', async () => {
  const page = await visit('before');
  const topic = page.getByLabel('Topic', { exact: true });
  const openChannel = async (): Promise<void> => {
    await page.goto(`${web.system.url}/channel/${web.general}`);
    await topic.waitFor();
  };
  await openChannel();
  await topic.fill('a new topic');
  await box(page).fill('Under its topic');
  await page.getByRole('link', { name: 'Inbox' }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.goBack();
  await expect.poll(() => topic.inputValue()).toBe('a new topic');
  await openChannel();
  expect([await topic.inputValue(), await box(page).inputValue()]).toEqual(['a new topic', 'Under its topic']);
  await box(page).press('Enter');
  await page.waitForURL('**/topic/a%20new%20topic');
  await expect.poll(() => contentsOf('a new topic')).toEqual(['Under its topic']);
  await openChannel();
  expect([await topic.inputValue(), await box(page).inputValue()]).toEqual(['', '']);
  await page.context().close();
});

test('a page asks before an upload is lost, and says that the text waits for its files', async () => {
  const page = await visit('uploading');
  const held = Promise.withResolvers<void>();
  await page.route('**/json/tus/*', async (route) => {
    await held.promise;
    await route.continue();
  });
  const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) });
  await box(page).pressSequentially('See');
  await page.locator('.compose input[type=file]').setInputFiles([file('one.txt'), file('two.txt')]);
  const note = page.getByText('The text can be sent or saved when its files are uploaded.');
  await note.waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await box(page).press('Enter');
  const asked = page.waitForEvent('dialog').then(async (dialog) => {
    await dialog.dismiss();
    return dialog.type();
  });
  void page.evaluate('location.reload()').catch(() => undefined);
  expect(await asked).toBe('beforeunload');
  held.resolve();
  await expect.poll(() => box(page).inputValue()).toMatch(/^See\n\[one\.txt\]\(\S+\)\n\[two\.txt\]\(\S+\)\n$/);
  await note.waitFor({ state: 'detached' });
  await box(page).press('Enter');
  await message(page, 'two.txt').waitFor();
  // A reload shows no question any more.
  await page.reload();
  await message(page, 'two.txt').waitFor();
  await page.context().close();
});
