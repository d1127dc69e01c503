import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { onePixel } from '../one-pixel.ts';
import { message, openWeb, type PersonName, type Web } from '../web-visit.ts';

/** Edits, earlier versions, topics, pictures and linked pages of messages in the web client, in Chromium. */

const linkedPage =
  '<title>A linked page</title><meta name=description content="Of a site"><meta property="og:image" content="/red">';

let web: Web;
/** A site that messages link. */
let site: Server;
beforeAll(async () => {
  site = createServer(({ url }, answer) => {
    if (url === '/red') answer.setHeader('content-type', 'image/png').end(onePixel);
    else answer.setHeader('content-type', 'text/html').end(linkedPage);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.2', resolve));
  web = await openWeb({ env: { NATTER_EXTERNAL_CONTENT_NETWORKS: '127.0.0.2/32' } });
});
afterAll(async () => {
  await web?.close();
  site?.close();
});

const article = (page: Page, id: number) => page.locator(`[data-message="${id}"]`);
const send = async (name: PersonName, topic: string, content: string): Promise<number> =>
  (await web.clientOf(name).sendMessage({ type: 'channel', to: web.general, topic, content })).id;

async function checkColors(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await findingsOf(page)]).toEqual([colorScheme, []]);
  }
}

const hasNoOverflow = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= innerWidth');

test('the versions and moves of a message are shown oldest first, and do not execute code', async () => {
  const hostile = '<img src=x onerror="globalThis.hacked = 1">';
  const id = await send('member2', 'history', 'The first word');
  const writer = web.clientOf('member2');
  await writer.updateMessage({ message_id: id, content: `The second word ${hostile}` });
  await web.clientOf('owner').updateMessage({ message_id: id, topic: hostile, propagate_mode: 'change_one' });
  const { page, faults } = await web.visit('member', web.topicPath(encodeURIComponent(hostile)));
  await article(page, id).getByText('edited').waitFor();
  await article(page, id).focus();
  await page.keyboard.press('H');
  const dialog = page.getByRole('dialog', { name: 'Edits and moves' });
  const versions = dialog.getByRole('list', { name: 'Versions' }).getByRole('listitem');
  await expect.poll(() => versions.count()).toBe(3);
  await versions.nth(0).getByText('Written by Mia Member').waitFor();
  await versions.nth(0).getByText('The first word').waitFor();
  await versions.nth(1).getByText('Edited by Mia Member').waitFor();
  expect(await versions.nth(1).getByRole('deletion').allTextContents()).toEqual(['first']);
  expect(await versions.nth(1).getByRole('insertion').first().textContent()).toBe('second');
  await versions.nth(2).getByText('Moved by').waitFor();
  expect(await versions.nth(2).getByRole('definition').allTextContents()).toEqual(['history', hostile]);
  await checkColors(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await expect.poll(() => hasNoOverflow(page)).toBe(true);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate('document.activeElement?.dataset.message')).toBe(String(id));
  await writer.updateMessage({ message_id: id, content: 'The last word' });
  await article(page, id).getByText('The last word').waitFor();
  expect([faults, await page.evaluate('"hacked" in globalThis')]).toEqual([[], false]);
  await page.context().close();
});

test('a moved message shows its history at once, but an unchanged message and an organization without one do not', async () => {
  const id = await send('member2', 'moves', 'To be moved');
  const { page, faults } = await web.visit('member', `/channel/${web.general}`);
  const menuItem = page.getByRole('menuitem', { name: /^Edits and moves/ });
  const openMenu = async (): Promise<void> => {
    await article(page, id).focus();
    await article(page, id).getByRole('button', { name: 'More actions' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Copy link' }).waitFor();
  };
  const closeMenu = async (): Promise<void> => {
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem', { name: 'Copy link' }).waitFor({ state: 'detached' });
  };
  await article(page, id).waitFor();
  await openMenu();
  expect(await menuItem.count()).toBe(0);
  await closeMenu();
  const owner = web.clientOf('owner');
  await owner.updateMessage({ message_id: id, topic: 'moved', propagate_mode: 'change_one' });
  await article(page, id).getByText('moved', { exact: true }).first().waitFor();
  await openMenu();
  await menuItem.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Edits and moves' });
  await dialog.getByText('Moved by').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await owner.updateRealm({ message_edit_history_visibility_policy: 'none' });
  const isOffered = async (): Promise<number> => {
    await openMenu();
    const count = await menuItem.count();
    await closeMenu();
    return count;
  };
  await expect.poll(isOffered).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

async function upload(name: string): Promise<string> {
  const file = new File([onePixel], name, { type: 'image/png' });
  return (await web.clientOf('member2').uploadFile({ file })).url;
}

const isLoaded = (page: Page): Promise<boolean> =>
  page.evaluate('(document.querySelector(".stage img")?.naturalWidth ?? 0) > 0');

test('images open at window size, and keys switch between them', async () => {
  const [one, two, three] = [await upload('one.png'), await upload('two.png'), await upload('three.png')];
  const first = await send('member2', 'pictures', `[A red dot](${one})`);
  const both = await send(
    'member2',
    'pictures',
    `Text ![Another dot](${two})\n\n\`\`\`spoiler Hidden\n[](${three})\n\`\`\``,
  );
  const last = await send('member2', 'pictures', `[](${three})`);
  const { page, faults } = await web.visit('member', web.topicPath('pictures'));
  const link = article(page, first).getByRole('link', { name: 'A red dot' }).last();
  await link.focus();
  await link.press('Enter');
  const viewer = page.getByRole('dialog', { name: 'Pictures' });
  await viewer.getByRole('status').getByText('1 of 3').waitFor();
  const shown = viewer.getByRole('img');
  await expect.poll(() => isLoaded(page)).toBe(true);
  expect(await shown.getAttribute('alt')).toBe('A red dot');
  await checkColors(page);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowRight');
  await viewer.getByRole('img', { name: 'Another dot' }).waitFor();
  await page.keyboard.press('End');
  await viewer.getByRole('img', { name: 'three.png' }).waitFor();
  await viewer.getByRole('status').getByText('3 of 3').waitFor();
  expect(await viewer.getByRole('link', { name: 'Open the file' }).getAttribute('href')).toContain(three);
  // At the end it does nothing, and keeps the focus.
  await viewer.getByRole('button', { name: 'Next picture' }).press('Enter');
  expect(await page.evaluate('document.activeElement?.title')).toBe('Next picture');
  await viewer.getByRole('button', { name: 'Previous picture' }).click();
  await viewer.getByRole('img', { name: 'Another dot' }).waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await expect.poll(() => hasNoOverflow(page)).toBe(true);
  expect(await findingsOf(page)).toEqual([]);
  await web.clientOf('member2').deleteMessage({ message_id: both });
  await viewer.getByText('The picture is gone.').waitFor();
  await page.keyboard.press('Escape');
  await viewer.waitFor({ state: 'detached' });
  const focused = 'document.activeElement?.closest("[data-message]")?.dataset.message';
  await expect.poll(() => page.evaluate(focused)).toBe(String(first));
  await article(page, last).getByRole('link', { name: 'three.png' }).last().click();
  await viewer.getByRole('status').getByText('2 of 2').waitFor();
  await viewer.getByRole('button', { name: 'Close' }).click();
  await viewer.waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an image whose file is missing shows an error', async () => {
  const url = await upload('gone.png');
  const id = await send('member2', 'gone', `[Gone](${url.replace(/[^/]*$/, 'nothing.png')})`);
  const { page, faults } = await web.visit('member', web.topicPath('gone'));
  await article(page, id).getByRole('link', { name: 'Gone' }).last().click();
  await page.getByRole('dialog', { name: 'Pictures' }).getByText('The picture could not be loaded.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('code is copied as it was written', async () => {
  const code = 'if (a < b) {\n  return "&amp;";\n}\n';
  await send('member2', 'code', `Look:\n\`\`\`js\n${code}\`\`\``);
  const { page, faults } = await web.visit('member', web.topicPath('code'));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: web.system.url });
  const block = message(page, 'Look:').locator('.codehilite');
  await block.hover();
  await block.getByRole('button', { name: 'Copy' }).click();
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(code);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a linked page appears below its message with an image, and the message is not marked as edited', async () => {
  await web.clientOf('owner').updateRealm({ inline_url_embed_preview: true });
  const { page, faults } = await web.visit('member', web.topicPath('pages'));
  const address = `http://127.0.0.2:${(site.address() as AddressInfo).port}/page`;
  const id = await send('member2', 'pages', address);
  const title = article(page, id).getByRole('link', { name: 'A linked page' });
  await title.waitFor();
  expect([await title.getAttribute('href'), await title.getAttribute('rel')]).toEqual([address, 'noopener noreferrer']);
  await article(page, id).getByText('Of a site').waitFor();
  const isShown = () => page.evaluate('document.querySelector(".message_embed_image img")?.naturalWidth > 0');
  await expect.poll(isShown).toBe(true);
  expect(await article(page, id).getByText('edited').count()).toBe(0);
  await checkColors(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await expect.poll(() => hasNoOverflow(page)).toBe(true);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an unsaved edit is kept while another message is edited, at Escape and on a reload, until it is cancelled', async () => {
  const [one, two] = [await send('member', 'edits', 'The first'), await send('member', 'edits', 'The second')];
  const { page, faults } = await web.visit('member', web.topicPath('edits'));
  const editor = (id: number) => article(page, id).getByRole('textbox', { name: 'Text of the message' });
  const edit = async (id: number): Promise<void> => {
    await article(page, id).focus();
    await page.keyboard.press('e');
    await editor(id).waitFor();
    const focused =
      'document.activeElement.matches("textarea") && document.activeElement.closest("article").dataset.message';
    await expect.poll(() => page.evaluate(focused)).toBe(String(id));
  };
  await edit(one);
  await editor(one).fill('The first, not saved');
  await edit(two);
  await editor(one).waitFor({ state: 'detached' });
  await edit(one);
  expect(await editor(one).inputValue()).toBe('The first, not saved');
  await editor(one).press('Escape');
  await editor(one).waitFor({ state: 'detached' });
  await edit(one);
  expect(await editor(one).inputValue()).toBe('The first, not saved');
  await page.reload();
  // The compose box takes the focus once, when it appears.
  await page.locator('#compose:focus').waitFor();
  await edit(one);
  expect(await editor(one).inputValue()).toBe('The first, not saved');
  await article(page, one).getByRole('button', { name: 'Cancel' }).click();
  await editor(one).waitFor({ state: 'detached' });
  await edit(one);
  expect(await editor(one).inputValue()).toBe('The first');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an edit is not saved over a later one of the same message, and not if it is too long', async () => {
  const id = await send('member', 'conflicts', 'Bread, butter');
  const { page, faults } = await web.visit('member', web.topicPath('conflicts'));
  const editor = article(page, id).getByRole('textbox', { name: 'Text of the message' });
  const save = article(page, id).getByRole('button', { name: 'Save' });
  const source = async () => (await web.clientOf('member').getMessage({ message_id: id })).raw_content;
  await article(page, id).focus();
  await page.keyboard.press('e');
  await editor.fill('Bread, butter, salt');
  await web.clientOf('member').updateMessage({ message_id: id, content: 'Bread, butter, milk' });
  await save.click();
  await article(page, id).getByRole('alert').getByText('This message was changed meanwhile.').waitFor();
  await article(page, id).getByRole('blockquote').getByText('Bread, butter, milk').waitFor();
  expect([await editor.inputValue(), await source()]).toEqual(['Bread, butter, salt', 'Bread, butter, milk']);
  expect(await findingsOf(page)).toEqual([]);
  await editor.fill('x'.repeat(10_001));
  await article(page, id).getByText('The message is 1 character too long').waitFor();
  expect(await save.isDisabled()).toBe(true);
  await editor.press('Enter');
  await editor.fill('Bread, butter, milk, salt');
  await save.click();
  await editor.waitFor({ state: 'detached' });
  expect(await source()).toBe('Bread, butter, milk, salt');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('whether a message may be edited does not depend on the clock of the machine', async () => {
  const id = await send('member', 'clock', 'Just now');
  const { page, faults } = await web.visit('member', web.topicPath('clock'));
  await page.addInitScript('const now = Date.now.bind(Date); Date.now = () => now() + 172_800_000;');
  await page.reload();
  const editsOffered = async (): Promise<number> => {
    await article(page, id).focus();
    await article(page, id).getByRole('button', { name: 'More actions' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Copy link' }).waitFor();
    const count = await page.getByRole('menuitem', { name: /^Edit e$/ }).count();
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem', { name: 'Copy link' }).waitFor({ state: 'detached' });
    return count;
  };
  // The clocks are compared soon after the page is there.
  await expect.poll(editsOffered).toBe(1);
  await article(page, id).focus();
  await page.keyboard.press('e');
  await article(page, id).getByRole('textbox').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the topics of a channel are updated by its messages without another request', async () => {
  const greeting = await send('member2', 'before', 'Hello');
  const { page, faults } = await web.visit('member', `/channel/${web.general}`);
  const requests: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes(`/users/me/${web.general}/topics`)) requests.push(request.url());
  });
  await page.getByRole('button', { name: 'Topics of general' }).click();
  const newest = page.locator('.topics a .label').first();
  await expect.poll(() => newest.textContent()).toBe('before');
  // The list opens at the first unread message, which may be far above its end. It follows new messages at the end only.
  await page.keyboard.press('End');
  await article(page, greeting).waitFor();
  for (const topic of ['a new one', 'another', 'before']) {
    const id = await send('member2', topic, `In ${topic}`);
    await article(page, id).waitFor();
    await expect.poll(() => newest.textContent()).toBe(topic);
  }
  expect(requests.length).toBe(1);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the End key that is pressed before the messages are loaded shows the newest message, and new ones after it', async () => {
  for (let nth = 0; nth < 20; nth++) await send('member2', 'end', `Unread ${nth}\n\nas many others`);
  const { page, faults } = await web.visit('member', '/inbox');
  const released = Promise.withResolvers<void>();
  await page.route('**/json/messages?*', async (route) => {
    await released.promise;
    await route.continue();
  });
  await page.getByRole('link', { name: /^general/ }).click();
  await page.getByText('Loading messages').waitFor();
  await page.keyboard.press('End');
  released.resolve();
  await page.locator('[data-message]').first().waitFor();
  // A list that opens elsewhere may show its end for a moment.
  for (let nth = 0; nth < 5; nth++) await article(page, await send('member2', 'end', `Newer ${nth}`)).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the sidebar shows only some of many unread topics, and the inbox updates as messages are read', async () => {
  const topics = [...Array(45).keys()].map((nth) => `many ${nth}`);
  for (const topic of topics) await send('member2', topic, 'Unread');
  const { page, faults } = await web.visit('member', '/inbox');
  const entries = page.locator('.topics a');
  await page.getByRole('button', { name: 'Topics of general' }).click();
  // The 8 newest, and 30 of the others.
  await expect.poll(() => entries.count()).toBe(38);
  expect(await entries.locator('.label').first().textContent()).toBe('many 44');
  const more = page.getByRole('button', { name: 'Show more topics of general' });
  expect(await findingsOf(page)).toEqual([]);
  await more.click();
  await more.waitFor({ state: 'detached' });
  await expect.poll(() => entries.filter({ hasText: /^many / }).count()).toBe(45);
  const inbox = page.getByRole('region', { name: '#general' });
  await inbox.getByRole('link', { name: /^many 3 / }).waitFor();
  await inbox.getByRole('button', { name: 'Mark many 3 as read' }).click();
  await inbox.getByRole('link', { name: /^many 3 / }).waitFor({ state: 'detached' });
  await send('member2', 'many 3', 'Another');
  await expect.poll(() => inbox.getByRole('link').first().textContent()).toContain('many 3');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a writer sees the message that they send, wherever the list is, and learns of a refusal on another page', async () => {
  const ids: number[] = [];
  for (let index = 0; index < 130; index++) ids.push(await send('member', 'minutes', `Line ${index}\n\nand more`));
  const [first = 0] = ids;
  const { page, faults } = await web.visit('member', `${web.topicPath('minutes')}?near=${first}`);
  await article(page, first).waitFor();
  const write = async (text: string): Promise<void> => {
    await page.locator('#compose').fill(text);
    await page.locator('#compose').press('Enter');
  };
  const isOnScreen = (text: string) => async (): Promise<boolean> => {
    const box = await message(page, text).boundingBox();
    const list = await page.locator('.messages').boundingBox();
    return box !== null && list !== null && box.y >= list.y && box.y < list.y + list.height;
  };
  // The list has a part of the conversation only.
  expect(await article(page, ids.at(-1) ?? 0).count()).toBe(0);
  await write('Below an old page');
  await message(page, 'Below an old page').waitFor();
  await expect.poll(isOnScreen('Below an old page')).toBe(true);
  // The end of the conversation is loaded, and is not on screen.
  await page.locator('.messages').hover();
  await page.mouse.wheel(0, -1_500);
  await page.getByRole('button', { name: 'Newest messages' }).waitFor();
  await write('From further up');
  await message(page, 'From further up').waitFor();
  await expect.poll(isOnScreen('From further up')).toBe(true);

  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await page.route('**/json/messages', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    asked.resolve();
    await left.promise;
    await route.fulfill({ status: 400, json: { result: 'error', msg: 'The ink is dry.', code: 'BAD_REQUEST' } });
  });
  await write('Refused');
  await asked.promise;
  await page.getByRole('link', { name: /^Inbox/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
  left.resolve();
  const notice = page.getByRole('alert').filter({ hasText: 'The ink is dry.' });
  await notice.filter({ hasText: '#general › minutes' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
