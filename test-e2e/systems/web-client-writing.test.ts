import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { checkLook, openDialog } from '../web-look.ts';
import { leave, message, openWeb, type PersonName, type Visit, type Web } from '../web-visit.ts';

/** Writing with the web client: completion, files, previews, drafts and later times, in Chromium. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());
beforeEach(async () => {
  // A page that was closed soon after its last message may have left a draft, or is deleting it.
  const member = web.clientOf('member');
  const left = async (): Promise<number> => {
    for (const { id } of (await member.getDrafts()).drafts) await member.deleteDraft({ draft_id: id });
    return (await member.getDrafts()).count;
  };
  await expect.poll(left).toBe(0);
});

const box = (page: Page) => page.locator('#compose');
const option = (page: Page, name: string) => page.getByRole('option', { name });
const content = (page: Page, text: string) => message(page, text).locator('.content');

async function logIn(name: PersonName, path: string): Promise<Visit> {
  const visit = await web.visit(name, path);
  await box(visit.page).waitFor();
  return visit;
}

test('people, channels, topics, emoji and commands are completed with the keyboard', async () => {
  const { owner, member2 } = web.system.people;
  await web.clientOf('owner').sendMessage({ type: 'channel', to: web.general, topic: 'roadmap', content: 'A plan' });
  const [mia, olivia] = [member2.full_name, owner.full_name];
  const visit = await logIn('member', web.topicPath('completion'));
  const { page } = visit;
  await box(page).pressSequentially(`Hello @${mia.slice(0, 3)}`);
  await option(page, mia).waitFor();
  await expect.poll(() => box(page).getAttribute('role')).toBe('combobox');
  await expect.poll(() => box(page).getAttribute('aria-activedescendant')).not.toBeNull();
  await box(page).press('Escape');
  await option(page, mia).waitFor({ state: 'detached' });
  await box(page).pressSequentially(` @_${olivia.slice(0, 4)}`);
  await option(page, olivia).waitFor();
  await box(page).press('ArrowDown');
  await box(page).press('ArrowUp');
  await box(page).press('Enter');
  await box(page).pressSequentially('see #gen');
  await option(page, '#general').waitFor();
  await box(page).press('Tab');
  await box(page).press('Backspace');
  await box(page).pressSequentially('>road');
  await option(page, 'roadmap').waitFor();
  await box(page).press('Enter');
  await box(page).pressSequentially(':octop');
  await option(page, ':octopus:').waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await box(page).press('Enter');
  const expected = `Hello @${mia.slice(0, 3)} @_**${olivia}** see #**general>roadmap** :octopus: `;
  await expect.poll(() => box(page).inputValue()).toBe(expected);
  await box(page).press('Enter');
  await content(page, 'see').locator('a', { hasText: 'roadmap' }).waitFor();
  await expect.poll(() => content(page, 'see').locator('.user-mention.silent').count()).toBe(1);
  await box(page).pressSequentially('/po');
  await option(page, '/poll').waitFor();
  await box(page).press('Enter');
  await expect.poll(() => box(page).inputValue()).toBe('/poll ');
  await box(page).fill('');
  // A slow page may have stored a draft.
  const drafts = async () => (await web.clientOf('member').getDrafts()).count;
  await expect.poll(drafts).toBe(0);
  await leave(visit);
});

test('a new message goes to a topic or to several people', async () => {
  const { owner, member2 } = web.system.people;
  const visit = await logIn('member', web.topicPath('start'));
  const { page } = visit;
  const dialog = page.getByRole('dialog', { name: 'New message' });
  await page.getByRole('button', { name: 'New message' }).click();
  await dialog.getByLabel('Channel', { exact: true }).pressSequentially('gene');
  await option(page, '#general').waitFor();
  await dialog.getByLabel('Channel', { exact: true }).press('Enter');
  await dialog.getByLabel('Topic', { exact: true }).fill('begun here');
  await dialog.getByRole('button', { name: 'Write' }).click();
  await page.waitForURL('**/topic/begun%20here');
  await box(page).fill('The first one');
  await box(page).press('Enter');
  await message(page, 'The first one').waitFor();
  await page.getByRole('button', { name: 'New message' }).click();
  await dialog.getByText('Direct message').click();
  for (const { full_name } of [owner, member2]) {
    await dialog.getByLabel('To', { exact: true }).pressSequentially(full_name.slice(0, 5));
    await option(page, full_name).click();
    await dialog.getByRole('list', { name: 'Recipients' }).getByText(full_name, { exact: true }).waitFor();
  }
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Write' }).click();
  await page.waitForURL(/\/dm\/\d+(,|%2C)\d+$/);
  await box(page).waitFor();
  await leave(visit);
});

test('files are attached by paste, drop and button, and become links', async () => {
  const visit = await logIn('member', web.topicPath('files'));
  const { page } = visit;
  await page.locator('.compose input[type=file]').setInputFiles([
    { name: 'large [1].bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(2_500_000, 7) },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('some notes') },
  ]);
  for (const link of ['.bin](/user_uploads/', '[notes.txt](/user_uploads/'])
    await expect.poll(() => box(page).inputValue()).toContain(link);
  await page.locator('.uploads').waitFor({ state: 'detached' });
  const transfer = await page.evaluateHandle(`(() => {
    const data = new DataTransfer();
    data.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }));
    return data;
  })()`);
  await page.locator('.compose').dispatchEvent('drop', { dataTransfer: transfer });
  await expect.poll(() => box(page).inputValue()).toContain('[dropped.txt](/user_uploads/');
  await page.evaluate(`(() => {
    const data = new DataTransfer();
    data.items.add(new File(['pasted'], 'pasted.txt', { type: 'text/plain' }));
    document.querySelector('#compose').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  })()`);
  await expect.poll(() => box(page).inputValue()).toContain('[pasted.txt](/user_uploads/');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('region', { name: 'Preview' }).getByRole('link', { name: 'notes.txt' }).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const link = content(page, 'notes.txt').getByRole('link', { name: 'large 1' });
  await link.waitFor();
  const size = await page.evaluate(
    `fetch(${JSON.stringify(await link.getAttribute('href'))}).then((answer) => answer.arrayBuffer()).then(({ byteLength }) => byteLength)`,
  );
  expect(size).toBe(2_500_000);
  const tooLarge = 26 * 1024 * 1024;
  await page.evaluate(`(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(${tooLarge})], 'huge.bin'));
    document.querySelector('.compose').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  })()`);
  await page.locator('.uploads').getByText('The file is larger than').waitFor();
  await page.getByRole('button', { name: 'Remove huge.bin' }).click();
  await page.locator('.uploads').waitFor({ state: 'detached' });
  await leave(visit);
});

test('a message that would be rejected shows a warning before it is sent', async () => {
  const owner = web.clientOf('owner');
  const { stream_id } = await owner.getStreamId({ stream: 'general' });
  const visit = await logIn('member', web.topicPath('warnings'));
  const { page } = visit;
  const send = page.getByRole('button', { name: 'Send', exact: true });
  await box(page).fill('Dear @**all**');
  await page.getByText('You may use @all only where').waitFor();
  await box(page).fill('x'.repeat(9_900));
  await page.getByText('100 characters left').waitFor();
  await box(page).fill('x'.repeat(10_001));
  await page.getByText('The message is 1 character too long').waitFor();
  await expect.poll(() => send.isDisabled()).toBe(true);
  await box(page).fill('');
  await owner.updateChannel({ stream_id, topics_policy: 'disable_empty_topic' });
  await page.goto(`${web.system.url}/channel/${web.general}`);
  await box(page).fill('Without a topic');
  await page.getByText('Messages in this channel need a topic').waitFor();
  await expect.poll(() => send.isDisabled()).toBe(true);
  await page.getByLabel('Topic', { exact: true }).fill('named');
  await send.click();
  await message(page, 'Without a topic').waitFor();
  await owner.updateChannel({ stream_id, topics_policy: 'inherit' });
  await leave(visit);
});

test('where the writer may not send, the reason is shown before they write, and until they may', async () => {
  const owner = web.clientOf('owner');
  const [ownerId, memberId] = [web.system.people.owner.user_id, web.system.people.member.user_id];
  const only = (...direct_members: number[]) => ({ direct_members, direct_subgroups: [] });
  const { id: stream_id } = await owner.createChannel({
    name: 'press releases',
    subscribers: [ownerId, memberId],
    can_send_message_group: only(ownerId),
  });
  const visit = await logIn('member', `/channel/${stream_id}`);
  const { page } = visit;
  const send = page.getByRole('button', { name: 'Send', exact: true });
  const reason = page.getByText('You may not send messages in this channel.');
  await reason.waitFor();
  await page.goto(`${web.system.url}/channel/${stream_id}/topic/news`);
  await reason.waitFor();
  await box(page).fill('A question');
  expect(await send.isDisabled()).toBe(true);
  expect(await findingsOf(page)).toEqual([]);
  await owner.updateChannel({ stream_id, can_send_message_group: { new: only(ownerId, memberId) } });
  await reason.waitFor({ state: 'detached' });
  await send.click();
  await message(page, 'A question').waitFor();
  await owner.updateChannel({ stream_id, is_archived: true });
  await leave(visit);
});

test('a message that was refused goes back into the compose box to be changed', async () => {
  const visit = await logIn('member', web.topicPath('again'));
  const { page } = visit;
  const answer = { result: 'error', msg: 'It is not wanted.', code: 'BAD_REQUEST' };
  await page.route('**/json/messages', (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 400, json: answer }) : route.continue(),
  );
  await box(page).fill('A frst try');
  await box(page).press('Enter');
  const refused = page.locator('[data-outgoing]').filter({ hasText: 'Not sent: It is not wanted.' });
  await refused.waitFor();
  await page.unroute('**/json/messages');
  await box(page).fill('And another');
  await refused.getByRole('button', { name: 'Edit' }).click();
  await refused.waitFor({ state: 'detached' });
  await expect.poll(() => box(page).inputValue()).toBe('And another\nA frst try');
  await box(page).fill('A first try');
  await box(page).press('Enter');
  await message(page, 'A first try').waitFor();
  await leave(visit);
});

test('a draft is on every device until it is sent, and others see who is typing', async () => {
  const path = web.topicPath('drafts');
  const member = web.clientOf('member');
  const [here, there] = [await logIn('member', path), await logIn('member', path)];
  const other = await logIn('member2', path);
  const { full_name } = web.system.people.member;
  // After a long pause, a person no longer counts as typing.
  const typing = other.page.getByText(`${full_name} is typing`);
  const isSeen = async (): Promise<boolean> => {
    await box(here.page).press('x');
    return typing.isVisible();
  };
  await expect.poll(isSeen).toBe(true);
  await box(here.page).fill('An unfinished ');
  await expect.poll(() => box(there.page).inputValue()).toMatch(/^An unfinished\s?$/);
  await expect.poll(async () => (await member.getDrafts()).count).toBe(1);
  await box(here.page).pressSequentially('thought');
  await expect.poll(() => box(there.page).inputValue()).toBe('An unfinished thought');
  await here.page.reload();
  await expect.poll(() => box(here.page).inputValue()).toBe('An unfinished thought');
  await there.page.goto(`${web.system.url}/channel/${web.general}`);
  await there.page.getByRole('button', { name: /^Account of/ }).click();
  await there.page.getByRole('menuitem', { name: 'Drafts' }).click();
  await there.page.getByRole('button', { name: 'Continue writing' }).click();
  await there.page.waitForURL(`**${path}`);
  await expect.poll(() => box(there.page).inputValue()).toBe('An unfinished thought');
  await box(there.page).press('Enter');
  await message(other.page, 'An unfinished thought').waitFor();
  await typing.waitFor({ state: 'detached' });
  await expect.poll(() => box(here.page).inputValue()).toBe('');
  await expect.poll(async () => (await member.getDrafts()).count).toBe(0);
  await leave(here, there, other);
});

test('a message is scheduled, changed and deleted', async () => {
  const visit = await logIn('member', web.topicPath('later'));
  const { page } = visit;
  const member = web.clientOf('member');
  const entry = (name: RegExp) => page.getByRole('navigation', { name: 'Conversations' }).getByRole('button', { name });
  await member.createDrafts({ drafts: [{ type: 'stream', to: [web.general], topic: 'counted', content: 'A draft' }] });
  await entry(/^Drafts 1$/).waitFor();
  await box(page).fill('For tomorrow');
  await entry(/^Drafts 2$/).waitFor();
  await page.getByRole('button', { name: 'Send later' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Tomorrow morning' }).click();
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Schedule' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => box(page).inputValue()).toBe('');
  await entry(/^Drafts 1$/).waitFor();
  await checkLook(page);
  await entry(/^Scheduled messages 1$/).press('Enter');
  // The draft of the message may still be listed too.
  const card = dialog.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Edit' }) });
  await card.getByText('For tomorrow').waitFor();
  await card.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Text').fill('x'.repeat(10_001));
  await dialog.getByText('The message is 1 character too long').waitFor();
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Text').fill('For tomorrow, changed');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  await card.getByText('For tomorrow, changed').waitFor();
  const contents = async () => (await member.getScheduledMessages()).scheduled_messages.map((one) => one.content);
  await expect.poll(contents).toEqual(['For tomorrow, changed']);
  expect(await findingsOf(page)).toEqual([]);
  await card.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText('Nothing is scheduled').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  await entry(/^Scheduled messages/).waitFor({ state: 'detached' });
  for (const { id } of (await member.getDrafts()).drafts) await member.deleteDraft({ draft_id: id });
  await entry(/^Drafts$/).waitFor();
  await leave(visit);
});

test('a reminder brings a message back', async () => {
  const visit = await logIn('member', web.topicPath('reminders'));
  const { page } = visit;
  await box(page).fill('Think of this');
  await box(page).press('Enter');
  // The list may move the message away from the pointer: the focus keeps its buttons there.
  await message(page, 'Think of this').focus();
  await message(page, 'Think of this').getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Remind me' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Note').fill('Important');
  await dialog.getByRole('button', { name: 'Remind me' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Drafts' }).click();
  const card = dialog.getByRole('listitem').filter({ hasText: 'Important' });
  await card.getByRole('button', { name: 'Delete' }).click();
  await card.waitFor({ state: 'detached' });
  await expect.poll(async () => (await web.clientOf('member').getReminders()).reminders).toEqual([]);
  await leave(visit);
});

/** Simulates WebKit, which reports the Enter that confirms a conversion after the end of the composition. */
const confirmConversion = `document.querySelector('#compose').dispatchEvent(
  new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }),
)`;

test('an Enter that confirms an input method conversion does not send the message', async () => {
  const visit = await logIn('member', web.topicPath('conversion'));
  const { page } = visit;
  await box(page).fill('こんにちは');
  await page.evaluate(confirmConversion);
  await box(page).pressSequentially('、世界');
  await box(page).press('Enter');
  await message(page, '世界').waitFor();
  expect(await content(page, 'こんにちは').allTextContents()).toEqual(['こんにちは、世界']);
  await leave(visit);
});

test('Enter begins a new line on phones, and where this was chosen; Ctrl+Enter sends', async () => {
  const writeLines = async ({ page }: Visit, text: string): Promise<void> => {
    await box(page).pressSequentially(text);
    await box(page).press('Enter');
    await box(page).pressSequentially('and more');
    expect(await box(page).inputValue()).toBe(`${text}\nand more`);
    await box(page).press('Control+Enter');
    await content(page, text).getByText('and more').waitFor();
  };
  const phone = await web.visit('member2', web.topicPath('lines'), { hasTouch: true, isMobile: true });
  await writeLines(phone, 'From a phone');
  const visit = await logIn('member2', web.topicPath('lines'));
  const { page } = visit;
  const dialog = await openDialog(page, 'Settings');
  await dialog.getByRole('button', { name: 'Writing' }).click();
  const choice = dialog.getByLabel('Send with Enter');
  expect(await choice.isChecked()).toBe(true);
  await choice.click();
  expect(await choice.isChecked()).toBe(false);
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await writeLines(visit, 'From a desk');
  await message(page, 'From a desk').focus();
  await page.keyboard.press('e');
  const editor = page.getByRole('textbox', { name: 'Text of the message' });
  await editor.press('Enter');
  await editor.pressSequentially('and the end');
  await editor.press('Control+Enter');
  await content(page, 'From a desk').getByText('and the end').waitFor();
  await leave(phone, visit);
});

test('an upload continues while another page is open, and its link is in the draft', async () => {
  const visit = await logIn('member', web.topicPath('away'));
  const { page } = visit;
  const member = web.clientOf('member');
  const held = Promise.withResolvers<void>();
  await page.route('**/json/tus/*', async (route) => {
    await held.promise;
    await route.continue();
  });
  const openInbox = async (): Promise<void> => {
    await page.getByRole('link', { name: 'Inbox' }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  };
  const progress = page.getByRole('progressbar', { name: 'Upload of away.txt' });
  await box(page).fill('See');
  await page
    .locator('.compose input[type=file]')
    .setInputFiles([{ name: 'away.txt', mimeType: 'text/plain', buffer: Buffer.from('some notes') }]);
  await progress.waitFor();
  await openInbox();
  await page.goBack();
  await progress.waitFor();
  await openInbox();
  held.resolve();
  const drafts = async () => (await member.getDrafts()).drafts.map((one) => one.content);
  await expect.poll(drafts).toEqual([expect.stringMatching(/^See\n\[away\.txt\]\(\/user_uploads\/\S+\)$/)]);
  await page.goBack();
  await expect.poll(() => box(page).inputValue()).toContain('[away.txt](/user_uploads/');
  expect(await progress.count()).toBe(0);
  await box(page).press('Enter');
  await content(page, 'See').getByRole('link', { name: 'away.txt' }).waitFor();
  await expect.poll(drafts).toEqual([]);
  await leave(visit);
});
