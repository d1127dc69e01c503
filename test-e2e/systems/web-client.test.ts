import { firstLoadBytes } from '@natter/web/build';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf } from '../browsers.ts';
import { restingPlace } from '../list-place.ts';
import { differingPixels } from '../web-look.ts';
import { message, openWeb, type PersonName, type Visit, type Web } from '../web-visit.ts';

/** The web client in Chromium, at a system with two gateways. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const logIn = async (name: PersonName, path = '/'): Promise<Visit> => {
  const visit = await web.visit(name, path);
  await visit.page.getByRole('region', { name: 'Messages' }).waitFor();
  return visit;
};

async function send(name: PersonName, topic: string, content: string): Promise<void> {
  await web.clientOf(name).sendMessage({ type: 'channel', to: web.general, topic, content });
}

const say = async (page: Page, text: string): Promise<void> => {
  await page.locator('#compose').fill(text);
  await page.locator('#compose').press('Enter');
};

test('the scripts of the first page are at most 200 KB', () => {
  expect(firstLoadBytes()).toBeGreaterThan(0);
  expect(firstLoadBytes()).toBeLessThan(200_000);
});

test('two people who log in see the messages of each other', async () => {
  const path = web.topicPath('welcome');
  const [max, mia] = await Promise.all([logIn('member', path), logIn('member2', path)]);
  await say(max.page, 'A question from Max');
  await message(mia.page, 'A question from Max').waitFor();
  await say(mia.page, 'An answer from Mia');
  await message(max.page, 'An answer from Mia').waitFor();
  await expect.poll(() => max.page.locator('[data-outgoing]').count()).toBe(0);
  expect(await message(max.page, 'A question from Max').count()).toBe(1);
  await say(mia.page, '```spoiler The end\nThey win\n```');
  const [header, hidden] = [max.page.locator('summary', { hasText: 'The end' }), max.page.getByText('They win')];
  await header.waitFor();
  expect(await hidden.isVisible()).toBe(false);
  await header.click();
  await hidden.waitFor();
  expect([...max.faults, ...mia.faults]).toEqual([]);
  await Promise.all([max.page.context().close(), mia.page.context().close()]);
});

test('a message written while the gateways are killed arrives once', async () => {
  const path = web.topicPath('welcome');
  const { page, faults } = await logIn('member', path);
  await page.locator('#compose').fill('Written during');
  for (const child of web.system.children) if (child.program === 'gateway') child.kill('SIGKILL');
  await page.locator('#compose').fill('Written during an outage');
  await page.locator('#compose').press('Enter');
  await message(page, 'Written during an outage').waitFor();
  await page.locator('[data-outgoing]').waitFor({ state: 'detached' });
  expect(await message(page, 'Written during an outage').count()).toBe(1);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('messages of other users cannot execute code or violate the content security policy', async () => {
  const hostile = [
    '<script>globalThis.hacked = 1</script> <img src=x onerror="globalThis.hacked = 1">',
    '[a](javascript:globalThis.hacked=1) ![b](http://tracker.example/b.png)',
    '$$\\href{javascript:alert(1)}{x} + \\frac{1}{2}$$',
    '|a|\n|:-:|\n|1|',
    `${'W'.repeat(2_000)} "><svg onload=alert(1)>`,
  ];
  for (const text of hostile) await send('member2', '<img src=x onerror=alert(1)>', text);
  await send('member2', '<img src=x onerror=alert(1)>', 'The last one');
  const { page, faults } = await logIn('member', `/channel/${web.general}`);
  await page.locator('[data-message]').first().waitFor();
  // The page draws the messages near those on screen.
  await page.keyboard.press('End');
  await message(page, 'The last one').waitFor();
  await message(page, 'onerror="globalThis.hacked').waitFor();
  const shown = await page.evaluate(`({
    hacked: 'hacked' in globalThis,
    scripts: document.querySelectorAll('.content script, .content [onerror], .content [href^="javascript"]').length,
    isWide: document.documentElement.scrollWidth > innerWidth,
  })`);
  expect(shown).toEqual({ hacked: false, scripts: 0, isWide: false });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('axe finds no serious problem on any page, in light and dark, and on a phone', async () => {
  const { general } = web;
  const { page, faults } = await logIn('member');
  for (const path of [
    '/',
    `/channel/${general}`,
    `/channel/${general}/topic/welcome`,
    `/dm/${web.system.people.member2.user_id}`,
  ]) {
    await page.goto(web.system.url + path);
    await page.getByRole('region', { name: 'Messages' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([path, colorScheme, await findingsOf(page)]).toEqual([path, colorScheme, []]);
    }
  }
  await page.setViewportSize({ width: 320, height: 640 });
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  expect([await findingsOf(page), faults]).toEqual([[], []]);
  await page.getByRole('button', { name: 'Conversations' }).click();
  await page.getByRole('button', { name: /^Account of/ }).click();
  expect(await findingsOf(page)).toEqual([]);
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.waitForURL('**/accounts/login*');
  expect(await findingsOf(page)).toEqual([]);
  await page.context().close();
});

test('logging out opens the login page once, even if a poll is refused before the form is answered', async () => {
  const { page } = await logIn('member');
  const refused = page.waitForResponse((response) => response.url().includes('/events?') && response.status() === 401);
  await page.route('**/accounts/logout', async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    await refused;
    await route.fulfill({ response });
  });
  const visited: string[] = [];
  page.on('framenavigated', (frame) => visited.push(frame.url()));
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.locator('input[name=username]').waitFor();
  expect(visited).toEqual([`${web.system.url}/accounts/login`]);
  await page.context().close();
});

// This test runs after the test with axe, because axe does not detect that overflow is clipped.
test('messages of other users cannot paint over other messages', async () => {
  const hostile = [
    '$$\\raisebox{30em}{\\colorbox{white}{I resign. Alice\\hspace{15em}}}$$',
    '$$\\smash{\\Huge{\\Huge{\\rule{20em}{20em}}}}$$',
    '$$\\raisebox{0.9em}{\\raisebox{0.9em}{\\raisebox{0.9em}{\\rule{20em}{20em}}}}$$',
    '$$\\smash{\\rule[-20em]{20em}{40em}}$$',
    `Zalgo${'\u0300\u0316'.repeat(200)}`,
  ];
  await send('owner', 'paint', 'Line 0');
  for (const [index, text] of hostile.entries()) {
    await send('member2', 'paint', text);
    await send('owner', 'paint', `Line ${index + 1}`);
  }
  const { page, faults } = await logIn('member', web.topicPath('paint'));
  await page.setViewportSize({ width: 1_280, height: 1_600 });
  const lines = Array.from({ length: hostile.length + 1 }, (_, index) => message(page, `Line ${index}`));
  for (const line of lines) await line.waitFor();
  await restingPlace(page);
  const look = async (): Promise<Buffer[]> => {
    const shots: Buffer[] = [];
    const others = [
      ...lines.map((line) => line.locator('.message')),
      ...(await page.locator('[data-message] time').all()),
    ];
    for (const one of others) shots.push(await one.screenshot());
    return shots;
  };
  const layout = ':is([voffset="30em"], [mathbackground="white"], [mathsize] [mathsize])';
  expect(await page.locator(`.content ${layout}`).count()).toBe(0);
  const before = await look();
  await page.evaluate(`for (const one of document.querySelectorAll('.content'))
    if (!one.textContent.startsWith('Line')) one.style.visibility = 'hidden';`);
  const after = await look();
  expect(await differingPixels(page, before, after)).toEqual(after.map(() => 0));
  expect(faults).toEqual([]);
  await page.context().close();
});
