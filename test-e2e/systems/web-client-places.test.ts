import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { ofList, restingPlace } from '../list-place.ts';
import { message, openWeb, type Web } from '../web-visit.ts';

/** The web client in Chromium keeps the reader's place in a long conversation, and leads to every other place. */

const count = 1_000;
let web: Web;
/** A long conversation, in order. */
let ids: number[];
beforeAll(async () => {
  web = await openWeb();
  const client = web.clientOf('member');
  await web.clientOf('owner').updateRealm({ message_content_edit_limit_seconds: 'unlimited' });
  ids = [];
  while (ids.length < count) {
    const sent = Array.from({ length: 20 }, (_, index) =>
      client.sendMessage({ ...inLong, to: web.general, content: textOf(index) }),
    );
    ids.push(...(await Promise.all(sent)).map(({ id }) => id));
  }
  ids.sort((a, b) => a - b);
});
afterAll(() => web?.close());

const inLong = { type: 'channel' as const, topic: 'long', read_by_sender: true };
/** Messages of different heights. */
const textOf = (index: number): string => `A line\n${'and another\n\n'.repeat(index % 7)}`;

const visit = (path: string) => web.visit('member', path);
const article = (page: Page, id: number) => page.locator(`[data-message="${id}"]`);
const idAt = (index: number): number => ids[index] ?? 0;

const listed = async (page: Page): Promise<number[]> => {
  const code = "(list) => [...list.querySelectorAll('[data-message]')].map((one) => Number(one.dataset.message))";
  return (await ofList<number[]>(page, code)).sort((a, b) => a - b);
};

const scroll = (page: Page, by: number): Promise<void> => ofList(page, `(list) => list.scrollBy(0, ${by})`);

/** Scrolls until a message is on the page. Everything on the way must be there, without holes. */
async function scrollTo(page: Page, id: number): Promise<void> {
  await expect
    .poll(async () => {
      const shown = await listed(page);
      const first = ids.indexOf(shown[0] ?? 0);
      expect(shown).toEqual(ids.slice(first, first + shown.length));
      if (shown.includes(id)) return true;
      const distance = ids.indexOf(id) - first;
      // No step passes over the message.
      await scroll(page, Math.sign(distance) * (Math.abs(distance) > 60 ? 1_500 : 400));
      return false;
    })
    .toBe(true);
}

test('a link to a message opens its conversation there, and pages load at both ends', async () => {
  const middle = idAt(count / 2);
  const { page, faults } = await visit('/');
  await page.goto(`${web.system.url}/#narrow/channel/${web.general}-general/topic/long/near/${middle}`);
  await page.waitForURL(`**/topic/long?near=${middle}`);
  const target = page.locator(`[data-message="${middle}"][data-near=true]`);
  await target.waitFor();
  await expect
    .poll(async () => {
      const y = (await target.boundingBox())?.y ?? -1;
      return y >= 0 && y < 700;
    })
    .toBe(true);
  await scrollTo(page, idAt(0));
  await expect.poll(async () => (await listed(page)).length).toBeLessThan(150);
  await scrollTo(page, idAt(count - 1));
  await expect.poll(async () => (await listed(page)).length).toBeLessThan(150);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('links open at their messages, even on a slow machine', async () => {
  const { page, faults } = await visit('/inbox');
  const slow = await page.context().newCDPSession(page);
  await slow.send('Emulation.setCPUThrottlingRate', { rate: 6 });
  for (const index of [150, 330, 510, 690]) {
    await page.goto(`${web.system.url}${web.topicPath('long')}?near=${idAt(index)}`);
    const target = article(page, idAt(index));
    // The list could leave its place again, so the message must stay for some seconds.
    let since = Number.POSITIVE_INFINITY;
    const staysMs = async (): Promise<number> => {
      const box = (await target.count()) === 1 ? await target.boundingBox() : null;
      const isOnScreen = box !== null && box.y >= 0 && box.y < 700;
      since = isOnScreen ? Math.min(since, Date.now()) : Number.POSITIVE_INFINITY;
      return Date.now() - since;
    };
    await expect.poll(staysMs, { interval: 100 }).toBeGreaterThan(3_000);
  }
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a list that opens at a message marks only messages as read that were on screen', async () => {
  const reader = web.clientOf('member2');
  const unreadOf = async (ids: number[]): Promise<number[]> => {
    const { messages } = await reader.getMessages({ message_ids: ids });
    return messages.flatMap(({ id, flags }) => (flags.includes('read') ? [] : [id]));
  };
  // The page begins with unread messages.
  const { page, faults } = await web.visit('member2', `${web.topicPath('long')}?near=${idAt(700)}`);
  await expect.poll(() => unreadOf([idAt(700)])).toEqual([]);
  const before = ids.slice(0, 680);
  expect(await unreadOf(before)).toEqual(before);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('keys act on a message on screen, not on the one that the reader has scrolled away from', async () => {
  const { page, faults } = await visit(`${web.topicPath('long')}?near=${idAt(300)}`);
  await article(page, idAt(300)).waitFor();
  await restingPlace(page);
  await article(page, idAt(300)).locator('.content').click();
  await scrollTo(page, idAt(400));
  await restingPlace(page);
  const shown = await listed(page);
  await page.keyboard.press('s');
  const narrow = [{ operator: 'is', operand: 'starred' }];
  const starred = async () =>
    (await web.clientOf('member').getMessages({ narrow, anchor: 'newest', num_before: 9, num_after: 0 })).messages;
  await expect.poll(async () => (await starred()).length).toBe(1);
  expect(shown).toContain((await starred())[0]?.id);
  expect(faults).toEqual([]);
  await page.context().close();
});

/** Holds the frames of a page, in which a list arrives at its place, until they are released. */
const holdFrames = `{
  const [request, cancel] = [requestAnimationFrame, cancelAnimationFrame].map((own) => own.bind(window));
  const held = new Map();
  let id = 0;
  window.requestAnimationFrame = (work) => {
    held.set(--id, work);
    return id;
  };
  window.cancelAnimationFrame = (one) => held.delete(one) || cancel(one);
  window.releaseFrames = () => {
    window.requestAnimationFrame = request;
    for (const work of held.values()) request(work);
  };
}`;
const passFrames = `new Promise((end) => {
  let frames = 0;
  requestAnimationFrame(function count() {
    if (++frames === 100) end();
    else requestAnimationFrame(count);
  });
})`;

test('a key that is pressed before a list has arrived at its place is not undone', async () => {
  const owner = web.clientOf('owner');
  const { user_id } = web.system.people.member;
  const { id: channel } = await owner.createChannel({ name: 'unread', subscribers: [user_id] });
  // The notice of its creation is sent some time after it.
  const notices = async () => {
    const narrow = [{ operator: 'channel', operand: channel }];
    return (await web.clientOf('member').getMessages({ narrow, anchor: 'newest', num_before: 9, num_after: 0 }))
      .messages;
  };
  await expect.poll(async () => (await notices()).length).toBe(1);
  let last = 0;
  for (let index = 0; index < 40; index++)
    last = (await owner.sendMessage({ type: 'channel', to: channel, topic: 'news', content: textOf(index) })).id;
  const { page, faults } = await visit('/inbox');
  await page.addInitScript(holdFrames);
  await page.goto(`${web.system.url}/channel/${channel}`);
  await page.locator('[data-message]').first().waitFor();
  await page.keyboard.press('End');
  const focused = () => page.evaluate('Number(document.activeElement.dataset.message)');
  await expect.poll(focused).toBe(last);
  await page.evaluate('releaseFrames()');
  await page.evaluate(passFrames);
  expect(await focused()).toBe(last);
  const isVisible = `(list) => {
    const row = list.querySelector('[data-message="${last}"]')?.getBoundingClientRect();
    return row !== undefined && row.top < list.getBoundingClientRect().bottom;
  }`;
  expect(await ofList(page, isVisible)).toBe(true);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the text of an edit stays while its message is off the screen', async () => {
  const { page, faults } = await visit(`${web.topicPath('long')}?near=${idAt(count - 3)}`);
  await article(page, idAt(count - 1)).waitFor();
  await page.locator('.messages').focus();
  await page.keyboard.press('End');
  await expect.poll(() => page.evaluate('Number(document.activeElement.dataset.message)')).toBe(idAt(count - 1));
  await page.keyboard.press('e');
  const editor = page.getByRole('textbox', { name: 'Text of the message' });
  await editor.fill('A changed text');
  // Scrolls by less than the visible height, so that each message is on screen once.
  await scrollTo(page, idAt(count - 100));
  await expect.poll(() => editor.count()).toBe(0);
  await scrollTo(page, idAt(count - 1));
  await expect.poll(() => editor.inputValue()).toBe('A changed text');
  await editor.press('Escape');
  await editor.waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a conversation link that includes the reader opens the same conversation', async () => {
  const { member, member2 } = web.system.people;
  const { page, faults } = await visit(`/dm/${[member.user_id, member2.user_id].join(',')}`);
  await page.getByRole('heading', { level: 1, name: member2.full_name }).waitFor();
  const { id } = await web.clientOf('member2').sendMessage({ type: 'direct', to: [member.user_id], content: 'Hello' });
  await article(page, id).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('keys scroll pages without messages and do not close an open dialog', async () => {
  const { page, faults } = await visit('/recent');
  await page.setViewportSize({ width: 1_200, height: 200 });
  await page.locator('.recent a').first().waitFor();
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await dialog.waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.press('End');
  expect(await page.getByRole('dialog').count()).toBe(1);
  await dialog.waitFor();
  const isPrevented = (key: string): Promise<boolean> =>
    page.evaluate(
      `!document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))`,
    );
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  for (const key of ['ArrowDown', 'ArrowUp', 'End']) expect(await isPrevented(key), key).toBe(false);
  expect(await isPrevented('?')).toBe(true);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the scroll position is kept while an older page loads and while messages arrive', async () => {
  const { page, faults } = await visit(`${web.topicPath('long')}?near=${idAt(400)}`);
  await article(page, idAt(400)).waitFor();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  await page.route('**/json/messages?*', async (route) => {
    isHeld ||= new URL(route.request().url()).searchParams.get('num_after') === '0';
    await released;
    await route.continue();
  });
  const heightOf = () => ofList<number>(page, '(list) => list.scrollHeight');
  // Pages that were requested before the route was set are not held, and more are requested after them.
  await expect
    .poll(async () => {
      await scroll(page, -500);
      return [isHeld, await ofList<number>(page, '(list) => list.scrollTop')];
    })
    .toEqual([true, 0]);
  // The first message loses its day and its name when others come before it; the place is below it.
  await scroll(page, 800);
  const before = await restingPlace(page);
  const height = await heightOf();
  release();
  await expect.poll(heightOf).toBeGreaterThan(height);
  const moved = async (): Promise<number> => {
    const { y = 0 } = (await article(page, before.id).boundingBox()) ?? {};
    const { y: edge = 0 } = (await page.locator('.messages').boundingBox()) ?? {};
    return Math.abs(y - edge - before.top);
  };
  await expect.poll(moved).toBeLessThan(3);
  const title = await page.title();
  const { id } = await web.clientOf('member2').sendMessage({ ...inLong, to: web.general, content: 'At the end' });
  ids.push(id);
  // The title counts unread messages.
  await expect.poll(() => page.title()).not.toBe(title);
  await expect.poll(moved).toBeLessThan(3);
  await page.getByRole('button', { name: 'Newest messages' }).click();
  await article(page, id).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an expired queue is registered again, and the scroll position is kept', async () => {
  const middle = idAt(300);
  const queues: string[] = [];
  const { page, faults } = await visit('/');
  page.on('request', (request) => {
    const queue = new URL(request.url()).searchParams.get('queue_id');
    if (queue !== null && request.url().includes('/events')) queues.push(queue);
  });
  await page.goto(`${web.system.url}${web.topicPath('long')}?near=${middle}`);
  await article(page, middle).waitFor();
  await page.locator('#compose').fill('A text that is not sent yet');
  await expect.poll(() => queues.length).toBeGreaterThan(0);
  await page.locator('.messages').focus();
  await scroll(page, 700);
  const before = await restingPlace(page);
  const lost = queues.at(-1) ?? '';
  await web.clientOf('member').deleteQueue({ queue_id: lost });
  const { id } = await web
    .clientOf('member2')
    .sendMessage({ ...inLong, to: web.general, content: 'While the queue was lost' });
  ids.push(id);
  await expect.poll(() => queues.at(-1)).not.toBe(lost);
  await article(page, before.id).waitFor();
  await expect.poll(() => page.locator('#compose').inputValue()).toBe('A text that is not sent yet');
  await page.getByRole('button', { name: 'Newest messages' }).click();
  await article(page, id).waitFor();
  const next = await web.clientOf('member2').sendMessage({ ...inLong, to: web.general, content: 'After it' });
  ids.push(next.id);
  await article(page, next.id).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the command palette and the shortcuts lead to every view', async () => {
  await web.clientOf('member').markAllRead();
  const { page, faults } = await visit('/inbox');
  const unread = await web
    .clientOf('member2')
    .sendMessage({ ...inLong, topic: 'next', to: web.general, content: 'Unread' });
  const go = async (text: string): Promise<void> => {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: /^Go to a/ }).fill(text);
    await page.getByRole('option').first().filter({ hasText: text }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await go('recent');
  await page.getByRole('heading', { name: 'Recent conversations' }).waitFor();
  // The palette finds conversations of loaded messages.
  const conversations = page.getByRole('list', { name: 'Conversations' });
  await conversations.getByRole('link', { name: /› long/ }).waitFor();
  await page.keyboard.press('I');
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.getByRole('link', { name: /^next/ }).waitFor();
  await page.keyboard.press('n');
  await page.waitForURL(`**${web.topicPath('next')}`);
  await article(page, unread.id).waitFor();
  await go('long');
  await page.waitForURL(`**${web.topicPath('long')}`);
  await article(page, ids.at(-1) ?? 0).waitFor();
  await page.locator('#compose').press('Escape');
  const focused = () => page.evaluate<string>('document.activeElement?.dataset.message');
  const focusedAtEnd = async (): Promise<string> => {
    await page.keyboard.press('End');
    return focused();
  };
  await expect.poll(focusedAtEnd).toBe(String(ids.at(-1)));
  await page.keyboard.press('k');
  await expect.poll(focused).toBe(String(ids.at(-2)));
  await page.keyboard.press('ArrowDown');
  await expect.poll(focused).toBe(String(ids.at(-1)));
  await page.keyboard.press('r');
  await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('compose');
  await page.keyboard.type('An answer?');
  await page.keyboard.press('Enter');
  await message(page, 'An answer?').waitFor();
  await page.locator('#compose').press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});

const views = ['/inbox', '/recent', '/mentions', '/starred', '/search', '/search?q=has%3Areaction%20axe'];

test.for([
  [1_200, 'dark'],
  [320, 'light'],
] as const)('axe finds no serious problem at width %i in %s, and no page is wider', async ([width, colorScheme]) => {
  const { id } = await web
    .clientOf('member2')
    .sendMessage({ ...inLong, topic: 'axe', to: web.general, content: 'Axe' });
  await web.clientOf('member2').addReaction({ message_id: id, emoji_name: 'tada' });
  const { page, faults } = await visit('/inbox');
  await page.setViewportSize({ width, height: 700 });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  const check = async (what: string): Promise<void> => {
    expect([what, await findingsOf(page)]).toEqual([what, []]);
    await expect
      .poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth'), { message: what })
      .toBe(true);
  };
  for (const path of views) {
    await page.goto(web.system.url + path);
    await page.locator('main.conversation h1').waitFor();
    await page.getByText('Loading').waitFor({ state: 'detached' });
    await check(path);
  }
  await page.goto(`${web.system.url}${web.topicPath('axe')}?near=${id}`);
  await article(page, id).getByRole('button', { name: /^tada/ }).waitFor();
  await article(page, id).focus();
  await article(page, id).getByRole('button', { name: 'More actions' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Copy link' }).waitFor();
  await check('menu');
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  for (const [keys, role] of [
    [':', 'option'],
    ['ControlOrMeta+k', 'option'],
    ['?', 'heading'],
  ] as const) {
    await article(page, id).focus();
    await page.keyboard.press(keys);
    await page.getByRole('dialog').getByRole(role).first().waitFor();
    await check(keys);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  expect(faults).toEqual([]);
  await page.context().close();
});
