import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { ofList, restingPlace } from '../list-place.ts';
import { checkLook } from '../web-look.ts';
import { leave, message, openWeb, type PersonName, type Web } from '../web-visit.ts';

/** Tests in Chromium that messages on their way, the focus, and the parts of small windows stay visible. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

async function send(name: PersonName, topic: string, content: string): Promise<number> {
  return (
    await web.clientOf(name).sendMessage({ type: 'channel', to: web.general, topic, content, read_by_sender: true })
  ).id;
}

const article = (page: Page, id: number) => page.locator(`[data-message="${id}"]`);
const refusal = { status: 400, json: { result: 'error', msg: 'The ink is dry.', code: 'BAD_REQUEST' } };

async function write(page: Page, text: string): Promise<void> {
  await page.locator('#compose').fill(text);
  await page.locator('#compose').press('Enter');
}

test('a message on its way and its refusal are shown while the list loads, and when it cannot be loaded', async () => {
  const visit = await web.visit('member');
  const { page } = visit;
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  await page.route('**/json/messages?*', async (route) => {
    asked.resolve();
    await answered.promise;
    await route.fulfill({ status: 403, json: { result: 'error', msg: 'Not now.', code: 'BAD_REQUEST' } });
  });
  const refused = Promise.withResolvers<void>();
  await page.route('**/json/messages', async (route) => {
    await refused.promise;
    await route.fulfill(refusal);
  });
  await page.goto(`${web.system.url}${web.topicPath('unlisted')}`);
  await asked.promise;
  await write(page, 'While it loads');
  const row = page.locator('[data-outgoing]').filter({ hasText: 'While it loads' });
  await row.getByText('Sending…').waitFor();
  await page.getByText('Loading messages').waitFor();
  refused.resolve();
  await row.getByText('The ink is dry.').waitFor();
  answered.resolve();
  await page.getByText('Not now.').waitFor();
  await write(page, 'After the failure');
  const second = page.locator('[data-outgoing]').filter({ hasText: 'After the failure' });
  await second.getByText('The ink is dry.').waitFor();
  await checkLook(page);
  await row.getByRole('button', { name: 'Discard' }).click();
  await row.waitFor({ state: 'detached' });
  await second.getByRole('button', { name: 'Edit' }).click();
  expect(await page.locator('#compose').inputValue()).toBe('After the failure');
  await leave(visit);
});

test('a message that was sent stays on the page while the list cannot be loaded, and loads the list again', async () => {
  const visit = await web.visit('member');
  const { page } = visit;
  const loads = '**/json/messages?*';
  await page.route(loads, (route) =>
    route.fulfill({ status: 403, json: { result: 'error', msg: 'Not now.', code: 'BAD_REQUEST' } }),
  );
  await page.goto(`${web.system.url}${web.topicPath('unlisted but sent')}`);
  await page.getByText('Not now.').waitFor();
  const answer = page.waitForResponse(loads);
  await write(page, 'Sent without a list');
  await message(page, 'Sent without a list').waitFor();
  await answer;
  await page.getByText('Not now.').waitFor();
  expect(await message(page, 'Sent without a list').count()).toBe(1);
  await checkLook(page);
  await page.unroute(loads);
  await write(page, 'Sent after it');
  const list = page.locator('.messages');
  await list.getByText('Sent without a list').waitFor();
  await list.getByText('Sent after it').waitFor();
  await leave(visit);
});

test('recent conversations that could not be loaded are loaded by a button', async () => {
  await send('member2', 'loaded later', 'One');
  const visit = await web.visit('member');
  const { page } = visit;
  const loads = '**/json/messages?*';
  await page.route(loads, (route) =>
    route.fulfill({ status: 403, json: { result: 'error', msg: 'Not now.', code: 'BAD_REQUEST' } }),
  );
  await page.goto(`${web.system.url}/recent`);
  await page.getByText('Not now.').waitFor();
  await checkLook(page);
  await page.unroute(loads);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.recent').getByText('loaded later').waitFor();
  await leave(visit);
});

test('on a phone, the list of conversations closes when the page on screen is chosen', async () => {
  const visit = await web.visit('member', '/inbox', { viewport: { width: 360, height: 640 } });
  const { page } = visit;
  const toggle = page.getByRole('button', { name: 'Conversations' });
  await toggle.click();
  const inbox = page.getByRole('navigation').getByRole('link', { name: 'Inbox' });
  await inbox.click();
  await inbox.waitFor({ state: 'hidden' });
  expect(await toggle.getAttribute('aria-expanded')).toBe('false');
  await leave(visit);
});

test('a message that begins with /me is shown as what its sender does', async () => {
  const { full_name } = web.system.people.member2;
  await send('member2', 'gestures', 'Good morning');
  const id = await send('member2', 'gestures', '/me waves *gladly* from afar');
  const next = await send('member2', 'gestures', 'Anyway');
  const visit = await web.visit('member', web.topicPath('gestures'));
  const { page } = visit;
  const status = new RegExp(`^${full_name}\\s+waves gladly from afar$`);
  const line = (of: Page | ReturnType<typeof article>) => of.locator('.status-line');
  await expect.poll(() => line(article(page, id)).textContent()).toMatch(status);
  expect(await article(page, next).locator('.sender').textContent()).toBe(full_name);
  await checkLook(page);
  const ownStatus = new RegExp(`^${web.system.people.member.full_name}\\s+nods\\s*$`);
  await page.locator('#compose').fill('/me nods');
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect.poll(() => page.locator('.preview').textContent()).toMatch(ownStatus);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const nod = message(page, 'nods');
  await expect.poll(() => line(nod).textContent()).toMatch(ownStatus);
  await page.goto(`${web.system.url}/search?q=waves`);
  await expect.poll(() => line(article(page, id)).textContent()).toMatch(status);
  await web.clientOf('member2').updateMessage({ message_id: id, content: 'Quiet now, no waves' });
  await line(article(page, id)).waitFor({ state: 'detached' });
  await leave(visit);
});

test('messages and the button to send stay visible in low windows, and lines are not too long in large ones', async () => {
  const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
  const id = await send('member2', 'sizes', words);
  const visit = await web.visit('member', web.topicPath('sizes'));
  const { page } = visit;
  await page.locator('#compose').fill('line\n'.repeat(30));
  for (const [width, height] of [
    [740, 360],
    [360, 400],
    [320, 256],
  ] as const) {
    await page.setViewportSize({ width, height });
    const sizes = async (): Promise<boolean[]> => {
      const list = await page.locator('.messages').boundingBox();
      const button = await page.getByRole('button', { name: 'Send', exact: true }).boundingBox();
      return [(list?.height ?? 0) >= 60, (button?.y ?? height) + (button?.height ?? 0) <= height];
    };
    await expect.poll(sizes, { message: `${width}x${height}` }).toEqual([true, true]);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('.preview p').waitFor();
    await expect.poll(sizes, { message: `${width}x${height} with preview` }).toEqual([true, true]);
    expect(await findingsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Preview' }).click();
  }
  await page.setViewportSize({ width: 3_840, height: 2_160 });
  const widthOf = async (): Promise<number> => (await article(page, id).locator('p').boundingBox())?.width ?? 0;
  const isReadable = async (): Promise<boolean> => {
    const width = await widthOf();
    return width > 500 && width < 1_000;
  };
  await expect.poll(isReadable).toBe(true);
  await leave(visit);
});

test('messages that a taller window shows become read', async () => {
  const ids: number[] = [];
  for (let index = 0; index < 12; index++) ids.push(await send('member2', 'taller', 'Line\n\nLine\n\nLine'));
  const unread = async (): Promise<number> => {
    const { messages } = await web.clientOf('member').getMessages({ message_ids: ids });
    return messages.filter(({ flags }) => !flags.includes('read')).length;
  };
  const visit = await web.visit('member', web.topicPath('taller'), { viewport: { width: 1_000, height: 600 } });
  await expect.poll(unread).toBeLessThan(ids.length);
  await restingPlace(visit.page);
  expect(await unread()).toBeGreaterThan(0);
  await visit.page.setViewportSize({ width: 1_000, height: 2_400 });
  await expect.poll(unread).toBe(0);
  await leave(visit);
});

test('the focus goes to the next entry of the inbox, and to the neighbour of a deleted message', async () => {
  for (const topic of ['one', 'two', 'three']) await send('owner', topic, 'Unread');
  const visit = await web.visit('member2', '/inbox');
  const { page } = visit;
  const names = page.locator('main .conversation-line > button');
  await page.getByRole('button', { name: 'Mark three as read' }).waitFor();
  const focused = () => page.evaluate('document.activeElement?.textContent.trim().replace(/^✓/, "")');
  const list = (await names.allTextContents()).map((name) => name.replace(/^✓/, ''));
  await names.first().focus();
  for (const name of list.slice(1)) {
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe(name);
  }
  await page.keyboard.press('Enter');
  await page.getByText('You have read everything').waitFor();
  expect(await focused()).toBe('Inbox');

  const [first = 0, second = 0] = [await send('member2', 'gone', 'First'), await send('member2', 'gone', 'Second')];
  await page.goto(`${web.system.url}${web.topicPath('gone')}`);
  await article(page, second).waitFor();
  const remove = async (id: number): Promise<void> => {
    await article(page, id).focus();
    await article(page, id).getByRole('button', { name: 'More actions' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Delete…' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await article(page, id).waitFor({ state: 'detached' });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await remove(second);
  await expect.poll(() => page.evaluate('document.activeElement?.dataset.message')).toBe(String(first));
  await leave(visit);
});

test('a page says that messages wait while the server accepts none, and says why it does not begin', async () => {
  const visit = await web.visit('member', web.topicPath('outage'));
  const { page } = visit;
  const busy = { status: 503, json: { result: 'error', msg: 'Busy.', code: 'BUSY' } };
  await page.route('**/json/messages', (route) =>
    route.request().method() === 'POST' ? route.fulfill(busy) : route.continue(),
  );
  // The server answers everything else, also while the machine is busy.
  const asks = '**/json/server_settings';
  await page.route(asks, (route) => route.fulfill({ json: { result: 'success', msg: '' } }));
  await write(page, 'Later');
  const banner = page.locator('.banner');
  await banner.getByText('Connected, but what you wrote is not sent yet.').waitFor();
  for (let look = 0; look < 20; look++) {
    await page.waitForTimeout(100);
    expect(await banner.getAttribute('data-connection')).toBe('unsent');
  }
  await checkLook(page);
  // The banner is shown for some seconds only.
  const connected = page.evaluate(`new Promise((seen) => {
    const banner = document.querySelector('.banner');
    const look = () => banner.textContent.includes('Connected again') && seen();
    new MutationObserver(look).observe(banner, { childList: true, characterData: true, subtree: true });
  })`);
  await Promise.all([connected, page.unroute('**/json/messages'), message(page, 'Later').waitFor()]);
  await page.unroute(asks);
  await page.route('**/json/users/me', (route) => route.fulfill(busy));
  await page.reload();
  await page.getByText('The server refuses for now (Busy.)').waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await page.unroute('**/json/users/me');
  await page.locator('main.conversation').waitFor();
  await leave(visit);
});

test('the names of a reaction are not cut, and recent conversations show topics in a narrow window', async () => {
  const id = await send('member2', 'where the names are', 'React');
  for (const emoji_name of ['tada', 'heart', 'smile', 'rocket', 'octopus'])
    await web.clientOf('owner').addReaction({ message_id: id, emoji_name });
  const visit = await web.visit('member', web.topicPath('where%20the%20names%20are'));
  const { page } = visit;
  await page.setViewportSize({ width: 360, height: 640 });
  const chips = article(page, id).locator('.reaction');
  await restingPlace(page);
  for (let nth = 0; nth < 5; nth++) {
    // The list may move the chip away from the pointer: then it shows no names.
    let edges: number[] = [];
    const isShown = async (): Promise<boolean> => {
      await chips.nth(nth).hover();
      edges = await page.evaluate(`(() => {
        const chip = document.querySelectorAll('[data-message="${id}"] .reaction')[${nth}];
        const { width, display } = getComputedStyle(chip, '::after');
        const own = chip.getBoundingClientRect();
        const names = parseFloat(width);
        if (display === 'none') return [];
        return chip.dataset.side === 'end' ? [own.right - names, own.right] : [own.left, own.left + names];
      })()`);
      return edges.length > 0;
    };
    await expect.poll(isShown).toBe(true);
    expect(edges[0]).toBeGreaterThanOrEqual(0);
    expect(edges[1]).toBeLessThanOrEqual(360);
  }
  await page.goto(`${web.system.url}/recent`);
  await page.setViewportSize({ width: 320, height: 640 });
  const topic = page.locator('.recent .label bdi', { hasText: 'where the names are' }).first();
  await expect.poll(async () => (await topic.boundingBox())?.width ?? 0).toBeGreaterThan(100);
  await checkLook(page);
  await leave(visit);
});

const heightOf = (page: Page): Promise<number> => ofList(page, '(list) => list.scrollHeight');
const isAtEnd = (page: Page): Promise<boolean> =>
  ofList(page, '(list) => list.scrollHeight - list.clientHeight - list.scrollTop <= 1');

test('a list at its end follows messages that come faster than they are drawn, until its reader scrolls up', async () => {
  const visit = await web.visit('member', web.topicPath('flood'));
  const { page } = visit;
  await page.getByText('There are no messages here yet').waitFor();
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Emulation.setCPUThrottlingRate', { rate: 6 });
  const flood = async (last: string): Promise<number> => {
    const texts = Array.from({ length: 30 }, (_, index) => `Number ${index} ${'word '.repeat((index % 3) * 40)}`);
    await Promise.all(texts.map((text) => send('member2', 'flood', text)));
    return send('member2', 'flood', last);
  };
  const last = await flood('The last of the first');
  await article(page, last).waitFor();
  await expect.poll(() => isAtEnd(page)).toBe(true);
  await protocol.send('Emulation.setCPUThrottlingRate', { rate: 1 });

  await page.getByRole('region', { name: 'Messages' }).hover();
  await page.mouse.wheel(0, -1_200);
  await page.getByRole('button', { name: 'Newest messages' }).waitFor();
  const place = await restingPlace(page);
  const before = await heightOf(page);
  await flood('The last of the second');
  await expect.poll(() => heightOf(page)).toBeGreaterThan(before + 31 * 40);
  expect(await restingPlace(page)).toEqual(place);
  await leave(visit);
});
