import { Redis } from 'ioredis';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { message, openWeb, type Web } from '../web-visit.ts';

/** The web client in Chromium while Redis loses everything and every process is killed. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

async function loseEverything(): Promise<void> {
  const redis = new Redis(web.system.servers.redisUrl);
  await redis.flushall();
  redis.disconnect();
  for (const child of web.system.children) child.kill('SIGKILL');
}

const write = (page: Page, text: string): Promise<void> => page.locator('#compose').pressSequentially(text);
const shown = (page: Page): Promise<string[]> => page.locator('[data-message] .content').allInnerTexts();

test('text that users write while everything restarts is not lost or duplicated on their screens', async () => {
  const path = web.topicPath('restart');
  const [max, mia] = await Promise.all([web.visit('member', path), web.visit('member2', path)]);
  await write(max.page, 'at first');
  await max.page.keyboard.press('Enter');
  await message(mia.page, 'at first').waitFor();
  await write(max.page, 'begun ');
  await loseEverything();
  await write(max.page, 'early, ended late');
  await max.page.keyboard.press('Enter');
  await write(mia.page, 'meanwhile');
  await mia.page.keyboard.press('Enter');
  await write(max.page, 'the next one');
  await max.page.keyboard.press('Enter');
  await write(max.page, 'not sent yet');
  const texts = ['at first', 'begun early, ended late', 'meanwhile', 'the next one'];
  for (const { page } of [max, mia]) {
    for (const text of texts) await message(page, text).waitFor();
    await page.locator('[data-outgoing]').first().waitFor({ state: 'detached' });
    await expect.poll(async () => (await shown(page)).toSorted()).toEqual(texts);
  }
  expect(await shown(mia.page)).toEqual(await shown(max.page));
  expect(await max.page.locator('#compose').inputValue()).toBe('not sent yet');
  expect(await mia.page.locator('#compose').inputValue()).toBe('');
  await max.page.keyboard.press('Enter');
  await message(mia.page, 'not sent yet').waitFor();
  // A fresh page has the same.
  for (const { page } of [max, mia]) {
    await message(page, 'not sent yet').waitFor();
    const before = await shown(page);
    await page.reload();
    await expect.poll(() => shown(page)).toEqual(before);
  }
  expect([...max.faults, ...mia.faults]).toEqual([]);
  await Promise.all([max.page.context().close(), mia.page.context().close()]);
});
