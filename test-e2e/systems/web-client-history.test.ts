import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ofList, type Place, restingPlace } from '../list-place.ts';
import { openWeb, type Visit, type Web } from '../web-visit.ts';

/** Back and Forward in the browser lead to the place where the reader was in a list of messages. */

const count = 300;
let web: Web;
/** A long conversation, in order. */
let ids: number[];
beforeAll(async () => {
  web = await openWeb();
  ids = [];
  while (ids.length < count) {
    const sent = Array.from({ length: 20 }, (_, index) => send('member', 'long', textOf(index)));
    ids.push(...(await Promise.all(sent)));
  }
  ids.sort((a, b) => a - b);
});
afterAll(() => web?.close());

/** Messages of different heights. */
const textOf = (index: number): string => `A line\n${'and another\n\n'.repeat(index % 7)}`;

async function send(from: 'member' | 'member2', topic: string, content: string): Promise<number> {
  const text = { type: 'channel' as const, to: web.general, topic, content, read_by_sender: true };
  return (await web.clientOf(from).sendMessage(text)).id;
}

const article = (page: Page, id: number) => page.locator(`[data-message="${id}"]`);
const idAt = (index: number): number => ids[index] ?? 0;

/** The pixels from the upper edge of the list to a message; null if the message is not drawn. */
const topOf = (page: Page, id: number): Promise<number | null> =>
  ofList(
    page,
    `(list) => {
      const row = list.querySelector('[data-message="${id}"]');
      return row && row.getBoundingClientRect().top - list.getBoundingClientRect().top;
    }`,
  );

/**
 * The list comes to rest with a message at its place, which it may pass by before. A pixel more or less of the message
 * above may be on screen.
 */
async function expectAt(page: Page, { id, top }: Place): Promise<void> {
  const found = async (): Promise<number | null> => {
    await restingPlace(page);
    const now = await topOf(page, id);
    return now !== null && Math.abs(now - top) < 4 ? top : now;
  };
  await expect.poll(found).toBe(top);
}

const belowEnd = (page: Page): Promise<number> =>
  ofList(page, '(list) => list.scrollHeight - list.clientHeight - list.scrollTop');

/** The list comes to rest at its end. */
async function expectAtEnd(page: Page): Promise<void> {
  const found = async (): Promise<number> => {
    await restingPlace(page);
    return belowEnd(page);
  };
  await expect.poll(found).toBeLessThan(2);
}

/** The reader turns the wheel over the list. */
async function turn(page: Page, by: number): Promise<void> {
  const box = await page.locator('.messages').boundingBox();
  if (!box) throw new Error('There is no list');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const offset = () => ofList<number>(page, '(list) => list.scrollTop');
  const before = await offset();
  await page.mouse.wheel(0, by);
  await expect.poll(offset).not.toBe(before);
}

const goToInbox = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: 'Inbox' }).first().click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
};

const goBack = (page: Page) => page.evaluate('history.back()');

async function visitLong(): Promise<Visit> {
  const visit = await web.visit('member', `/channel/${web.general}/topic/long`);
  await article(visit.page, ids.at(-1) ?? 0).waitFor();
  await restingPlace(visit.page);
  return visit;
}

async function endVisit({ page, faults }: Visit): Promise<void> {
  expect(faults).toEqual([]);
  await page.context().close();
}

test('Back leads to the message that was at the top, at the same height', async () => {
  const visit = await visitLong();
  const { page } = visit;
  for (const by of [-900, -700, -333]) await turn(page, by);
  const left = await restingPlace(page);
  await goToInbox(page);
  for (let index = 0; index < 5; index++) ids.push(await send('member2', 'long', `Unread ${index}`));
  await goBack(page);
  await expectAt(page, left);
  await turn(page, -411);
  const next = await restingPlace(page);
  await goToInbox(page);
  await goBack(page);
  await expectAt(page, next);
  // A link opens the same list anew.
  await goToInbox(page);
  await page.getByRole('link', { name: /^long/ }).first().click();
  await article(page, ids.at(-5) ?? 0).waitFor();
  expect((await restingPlace(page)).id).not.toBe(next.id);
  await endVisit(visit);
});

test('Back loads the place again if its messages are no longer loaded, and shows the next message if one is gone', async () => {
  const visit = await visitLong();
  const { page } = visit;
  let queue: string | null = null;
  page.on('request', (request) => {
    if (request.url().includes('/events?')) queue = new URL(request.url()).searchParams.get('queue_id') ?? queue;
  });
  for (const by of [-900, -700, -250]) await turn(page, by);
  const left = await restingPlace(page);
  await goToInbox(page);
  await expect.poll(() => queue).not.toBe(null);
  const lost = queue;
  await web.clientOf('member').deleteQueue({ queue_id: lost ?? '' });
  await expect.poll(() => queue).not.toBe(lost);
  await goBack(page);
  await expectAt(page, left);
  await goToInbox(page);
  await web.clientOf('owner').deleteMessage({ message_id: left.id });
  const next = idAt(ids.indexOf(left.id) + 1);
  ids.splice(ids.indexOf(left.id), 1);
  // The page has loaded the message before this one.
  await send('member2', 'other', 'After the deletion');
  await page
    .getByRole('main')
    .getByRole('link', { name: /^other/ })
    .waitFor();
  await goBack(page);
  await expectAt(page, { id: next, top: 0 });
  await endVisit(visit);
});

test('Back and Forward lead to the places of two visits of the same list, one of them at its end', async () => {
  const target = `#narrow/channel/${web.general}-general/topic/long/near/${idAt(40)}`;
  const link = await send('member', 'long', `[An earlier message](${target})`);
  ids.push(link);
  const visit = await visitLong();
  const { page } = visit;
  await page.getByRole('button', { name: 'Newest messages' }).or(article(page, link)).first().waitFor();
  await page.keyboard.press('End');
  await expectAtEnd(page);
  await article(page, link).getByRole('link', { name: 'An earlier message' }).click();
  await article(page, idAt(40)).waitFor();
  await restingPlace(page);
  await turn(page, 444);
  const left = await restingPlace(page);
  await goBack(page);
  await article(page, link).waitFor();
  await expectAtEnd(page);
  await page.evaluate('history.forward()');
  await expectAt(page, left);
  await goToInbox(page);
  await goBack(page);
  await expectAt(page, left);
  const newest = await send('member2', 'long', 'While the reader is elsewhere');
  await goBack(page);
  await article(page, newest).waitFor();
  await expectAtEnd(page);
  await endVisit(visit);
});

test('a page of a list is requested only while the list is on the page', async () => {
  const visit = await visitLong();
  const { page } = visit;
  const isBeside = (request: Request): boolean => request.url().includes('include_anchor=false');
  const isHeld = (url: URL): boolean => url.searchParams.get('include_anchor') === 'false';
  await page.route(isHeld, () => undefined);
  const requested = page.waitForEvent('request', { predicate: isBeside });
  await turn(page, -20_000);
  await requested;
  const ended = page.waitForEvent('requestfailed', { predicate: isBeside, timeout: 20_000 });
  await goToInbox(page);
  await ended;
  // The page requests it again when the reader returns.
  const again = page.waitForEvent('request', { predicate: isBeside });
  await page.unroute(isHeld);
  await goBack(page);
  await again;
  await endVisit(visit);
});

/** Holds the frames and the scroll events of a page until they are released, as if its first frame took long. */
const holdFirstFrame = `{
  const frame = requestAnimationFrame.bind(window);
  const held = [];
  window.requestAnimationFrame = (work) => held.push(work);
  const stop = (event) => event.stopImmediatePropagation();
  addEventListener('scroll', stop, true);
  window.releaseFrames = () => {
    removeEventListener('scroll', stop, true);
    window.requestAnimationFrame = frame;
    document.querySelector('.messages').dispatchEvent(new Event('scroll'));
    for (const work of held) frame(work);
  };
}`;

test('keys act on the message at which a list opens also in its first frame, and mark none above it as read', async () => {
  const reader = web.clientOf('member');
  const subscribers = ['member', 'member2'] as const;
  const { id: channel } = await web.clientOf('owner').createChannel({
    name: 'early',
    subscribers: subscribers.map((name) => web.system.people[name].user_id),
  });
  const narrow = [{ operator: 'channel', operand: channel }];
  const all = async () =>
    (await reader.getMessages({ narrow, anchor: 'newest', num_before: 99, num_after: 0 })).messages;
  // The notice of its creation is sent some time after it.
  await expect.poll(async () => (await all()).length).toBe(1);
  for (let index = 0; index < 60; index++) {
    const text = { type: 'channel' as const, to: channel, topic: 'early', content: textOf(index) };
    await web.clientOf('member2').sendMessage(text);
  }
  const sent = (await all()).map(({ id }) => id);
  const flagged = async (flag: string): Promise<number[]> =>
    (await all()).filter(({ flags }) => flags.includes(flag)).map(({ id }) => id);
  await reader.updateFlags({ messages: sent.slice(0, 20), op: 'add', flag: 'read' });
  const { page, faults } = await web.visit('member', '/inbox');
  await page.addInitScript(holdFirstFrame);
  await page.goto(`${web.system.url}/channel/${channel}`);
  await page.locator('[data-message]').first().waitFor();
  await page.keyboard.press('s');
  await expect.poll(() => flagged('starred')).toEqual([sent[20]]);
  await reader.updateFlags({ messages: sent, op: 'remove', flag: 'read' });
  await page.goto(`${web.system.url}/channel/${channel}?near=${sent[40]}`);
  await page.locator('[data-message]').first().waitFor();
  await page.locator('.messages').focus();
  await page.keyboard.press('Shift');
  await page.evaluate('releaseFrames()');
  await expect.poll(() => flagged('read')).toContain(sent[40]);
  expect(await flagged('read')).not.toContain(sent[0]);
  expect(faults).toEqual([]);
  await page.context().close();
});
