import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leave, openWeb, type Web } from '../web-visit.ts';

/** The web client when gateways of two releases serve it: one answers 404 to requests for files of the other. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

/** A page of its member, who is logged in. */
const visit = (locale = 'en-US') => web.visit('member', web.topicPath('upgrade'), { locale });

/** Files of this pattern are missing while `isMissing` returns true, for the number of the load of the page. */
async function miss(page: Page, pattern: string, isMissing: (load: number) => boolean): Promise<{ count: number }> {
  const loads = { count: 0 };
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads.count++;
  });
  const body = { result: 'error', msg: 'Not found', code: 'BAD_REQUEST' };
  await page.route(pattern, (route) =>
    isMissing(loads.count) ? route.fulfill({ status: 404, json: body }) : route.continue(),
  );
  return loads;
}

const hasStyles = (page: Page): Promise<boolean> =>
  page.evaluate("[...document.querySelectorAll('link[rel=stylesheet]')].every(({ sheet }) => sheet !== null)");

for (const [what, pattern] of [
  ['script', '**/assets/index-*.js'],
  ['module that the script imports', '**/assets/conversation-*.js'],
  ['style sheet', '**/assets/index-*.css'],
] as const)
  test(`a page is loaded again until it is complete if a ${what} is missing at two loads`, async () => {
    const visited = await visit();
    const { page } = visited;
    const loads = await miss(page, pattern, (load) => load <= 2);
    await page.reload();
    await expect.poll(() => loads.count).toBeGreaterThan(2);
    await page.locator('#compose').waitFor();
    await expect.poll(() => hasStyles(page)).toBe(true);
    await leave(visited);
  });

test('a page whose script is missing for longer says so, and begins without the help of its user', async () => {
  const visited = await visit();
  const { page } = visited;
  const failures = () => page.evaluate("sessionStorage.getItem('natter failed loads')");
  let isMissing = true;
  const loads = await miss(page, '**/assets/index-*.js', () => isMissing);
  await page.reload();
  await page.getByText('Natter cannot be loaded at the moment').waitFor();
  expect(loads.count).toBeGreaterThan(2);
  expect(Number(await failures())).toBeGreaterThan(2);
  isMissing = false;
  await page.locator('#compose').waitFor();
  await expect.poll(failures).toBe('0');
  await leave(visited);
});

test('a page whose texts are missing twice gets them', async () => {
  const visited = await visit('de-AT');
  const { page } = visited;
  let requests = 0;
  await miss(page, '**/assets/de-*.js', () => ++requests <= 2);
  await page.reload();
  await page.getByRole('link', { name: 'Posteingang' }).waitFor();
  expect(requests).toBeGreaterThan(2);
  await leave(visited);
});

test('browsers ask for the script that loads the page again each time', async () => {
  const { status, headers } = await fetch(`${web.system.url}/assets/load-again.js`);
  expect([status, headers.get('cache-control'), headers.get('content-type')]).toEqual([
    200,
    'no-cache',
    'text/javascript; charset=utf-8',
  ]);
});
