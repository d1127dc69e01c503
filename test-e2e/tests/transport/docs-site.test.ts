import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openRealm, type Realm } from '@natter/testkit';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf, openBrowser } from '../../browsers.ts';
import { proxyTo } from '../client/proxy-to.ts';

let realm: Realm;
let proxy: Server;
let origin: string;
let browser: Browser;
beforeAll(async () => {
  realm = await openRealm();
  proxy = await proxyTo(realm.host, realm.owner.url);
  origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  proxy.close();
});

/** A page of the documentation. `faults` are violations of its policy, errors of its script, and requests to other hosts. */
async function open(path: string, options: BrowserContextOptions = {}): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (line) => {
    if (/Content Security Policy/i.test(line.text())) faults.push(line.text());
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(request.url());
  });
  await page.goto(origin + path);
  await page.getByRole('search').waitFor();
  return { page, faults };
}

const pages = ['/docs', '/docs/first-bot', '/docs/presence'];
for (const [width, colorScheme, paths] of [
  [360, 'dark', [...pages, '/docs/event-types']],
  [768, 'light', pages],
  [1280, 'light', pages],
] as const)
  test(`pages are accessible and fit into ${width} pixels, in ${colorScheme} colours`, async () => {
    const { page, faults } = await open('/docs', { viewport: { width, height: 800 }, colorScheme });
    for (const path of paths) {
      await page.goto(origin + path);
      await page.getByRole('search').waitFor();
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width]);
      // Parts of a page are alike; axe takes a minute for a hundred of them.
      await page.evaluate(`document.querySelectorAll('section').forEach((one, i) => i >= 8 && one.remove())`);
      expect([path, await findingsOf(page)]).toEqual([path, []]);
    }
    const contents = page.getByRole('navigation', { name: 'Contents' });
    if (width < 800) {
      expect(await contents.isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Contents' }).click();
    }
    await contents.getByRole('link', { name: 'Presence', exact: true }).click();
    await page.waitForURL('**/docs/presence');
    await page.getByRole('button', { name: 'Try it' }).first().click();
    expect(await findingsOf(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

test('the search finds operations, events and guides', async () => {
  const { page, faults } = await open('/docs');
  await page.keyboard.press('/');
  await page.keyboard.type('message reaction');
  const results = page.getByRole('list', { name: 'Results' });
  await results.getByRole('link', { name: 'POST /messages/{message_id}/reactions' }).waitFor();
  await page.getByRole('searchbox').fill('typing/start');
  await results.getByRole('link', { name: 'typing/start event' }).waitFor();
  await page.getByRole('searchbox').fill('nothing has this name');
  await page.getByText('Nothing was found.').waitFor();
  await page.getByRole('searchbox').fill('following events');
  await results.getByRole('link', { name: 'Following events Guide' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/following');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the selected language of samples applies to all pages', async () => {
  const { page } = await open('/docs/messages');
  const part = (id: string) => page.locator(`section[id="${id}"]`);
  expect(await part('send-message').getByText('curl -X POST').isVisible()).toBe(true);
  await part('send-message').getByRole('button', { name: 'Python' }).click();
  expect(await part('get-messages').getByText('requests.get(').isVisible()).toBe(true);
  await page.goto(`${origin}/docs/channels`);
  expect(await part('create-channel').getByText('requests.post(').isVisible()).toBe(true);
  expect(await part('create-channel').getByText('curl -X POST').isVisible()).toBe(false);
  await page.context().close();
});

test('a reader can send requests with a key that is kept only in the tab', async () => {
  const { page, faults } = await open('/docs/messages');
  const sending = page.locator('section[id="send-message"]');
  await sending.getByRole('button', { name: 'Try it' }).click();
  const form = sending.getByRole('form', { name: 'POST /messages' });
  const content = 'sent from the documentation: ü & +';
  for (const [name, value] of Object.entries({ type: 'direct', to: `[${realm.member2.user_id}]`, content }))
    await form.getByLabel(name, { exact: true }).fill(value);
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByText('Status 401').waitFor();
  await form.getByText('"code": "UNAUTHORIZED"').waitFor();

  await page.getByRole('button', { name: 'API key' }).click();
  await page.getByLabel('Email address').fill(realm.member.email);
  await page.getByLabel('API key', { exact: true }).fill(realm.member.api_key);
  await page.getByRole('button', { name: 'Use' }).click();
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByText('Status 200').waitFor();
  const { id } = JSON.parse((await form.getByLabel('Answer').textContent()) ?? '') as { id: number };
  const { message } = await realm.member2.ok('GET', `/messages/${id}?apply_markdown=false`);
  expect(message).toMatchObject({ sender_id: realm.member.user_id, content });

  // The key is kept between pages of the tab, and nowhere else.
  await page.goto(`${origin}/docs/people`);
  await page.getByRole('button', { name: realm.member.email }).click();
  expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(realm.member.api_key);
  await page.getByRole('button', { name: 'Forget' }).click();
  await page.getByRole('button', { name: 'API key' }).waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});
