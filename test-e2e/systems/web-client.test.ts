import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '@natter/local/chromium';
import { type System, startSystem } from '@natter/local/system';
import { buildWebClient } from '@natter/web/build';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The web client in Chromium, at a system with two gateways. */

type PersonName = 'member' | 'member2';
interface Visit {
  page: Page;
  /** Violations of the policy of the page, and errors of its scripts. */
  faults: string[];
}

let system: System;
let browser: Browser;
let dataDir: string;
beforeAll(async () => {
  await buildWebClient();
  dataDir = await mkdtemp(join(tmpdir(), 'natter-web-'));
  const executablePath = await findChromium();
  system = await startSystem({ dataDir, log: () => undefined });
  browser = await chromium.launch({
    executablePath,
    timeout: 120_000,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
    ],
  });
}, 600_000);
afterAll(async () => {
  await browser?.close();
  await system?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function logIn(name: PersonName, path = '/'): Promise<Visit> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(100_000);
  page.setDefaultNavigationTimeout(100_000);
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (line) => {
    if (/Content Security Policy/i.test(line.text())) faults.push(line.text());
  });
  await page.goto(system.url + path);
  await page.locator('input[name=username]').fill(system.people[name].email);
  await page.locator('input[name=password]').fill(system.people[name].password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
  return { page, faults };
}

async function send(name: PersonName, topic: string, content: string): Promise<void> {
  const { email, api_key } = system.people[name];
  const response = await fetch(`${system.url}/api/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${email}:${api_key}`)}` },
    body: new URLSearchParams({ type: 'channel', to: 'general', topic, content }),
  });
  expect(response.status).toBe(200);
}

async function channelId(): Promise<number> {
  const { email, api_key } = system.people.member;
  const headers = { authorization: `Basic ${btoa(`${email}:${api_key}`)}` };
  const answer = await fetch(`${system.url}/api/v1/get_stream_id?stream=general`, { headers });
  return ((await answer.json()) as { stream_id: number }).stream_id;
}

const say = async (page: Page, text: string): Promise<void> => {
  await page.locator('#compose').fill(text);
  await page.locator('#compose').press('Enter');
};

/** A message of the server, not the echo of one on its way. */
const message = (page: Page, text: string) => page.locator('[data-message]').filter({ hasText: text });

/** What axe calls serious or critical. Code of the page is given as text: this program knows no documents. */
const findingsOf = async (page: Page): Promise<unknown[]> => {
  await page.evaluate(await axe());
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
};
interface Finding {
  id: string;
  impact: string;
  nodes: { html: string }[];
}
const axe = async (): Promise<string> => {
  const { readFile } = await import('node:fs/promises');
  return readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
};

test('two people who log in see the messages of each other', async () => {
  const path = `/channel/${await channelId()}/topic/welcome`;
  const [max, mia] = await Promise.all([logIn('member', path), logIn('member2', path)]);
  await say(max.page, 'A question from Max');
  await message(mia.page, 'A question from Max').waitFor();
  await say(mia.page, 'An answer from Mia');
  await message(max.page, 'An answer from Mia').waitFor();
  expect(await message(max.page, 'A question from Max').count()).toBe(1);
  expect(await max.page.locator('[data-outgoing]').count()).toBe(0);
  await say(mia.page, '```spoiler The end\nThey win\n```');
  const [header, hidden] = [max.page.locator('summary', { hasText: 'The end' }), max.page.getByText('They win')];
  await header.waitFor();
  expect(await hidden.isVisible()).toBe(false);
  await header.click();
  await hidden.waitFor();
  expect([...max.faults, ...mia.faults]).toEqual([]);
  await Promise.all([max.page.context().close(), mia.page.context().close()]);
});

test('what is written while the gateways are killed arrives once', async () => {
  const path = `/channel/${await channelId()}/topic/welcome`;
  const { page, faults } = await logIn('member', path);
  await page.locator('#compose').fill('Written during');
  for (const child of system.children) if (child.program === 'gateway') child.kill('SIGKILL');
  await page.locator('#compose').fill('Written during an outage');
  await page.locator('#compose').press('Enter');
  await message(page, 'Written during an outage').waitFor();
  await page.locator('[data-outgoing]').waitFor({ state: 'detached' });
  expect(await message(page, 'Written during an outage').count()).toBe(1);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('messages of strangers execute nothing, and violate no policy', async () => {
  const hostile = [
    '<script>globalThis.hacked = 1</script> <img src=x onerror="globalThis.hacked = 1">',
    '[a](javascript:globalThis.hacked=1) ![b](http://tracker.example/b.png)',
    '$$\\href{javascript:alert(1)}{x} + \\frac{1}{2}$$',
    '|a|\n|:-:|\n|1|',
    `${'W'.repeat(2_000)} "><svg onload=alert(1)>`,
  ];
  for (const text of hostile) await send('member2', '<img src=x onerror=alert(1)>', text);
  await send('member2', '<img src=x onerror=alert(1)>', 'The last one');
  const { page, faults } = await logIn('member', `/channel/${await channelId()}`);
  await message(page, 'The last one').waitFor();
  const shown = await page.evaluate(`({
    hacked: 'hacked' in globalThis,
    scripts: document.querySelectorAll('.content script, .content [onerror], .content [href^="javascript"]').length,
    isWide: document.documentElement.scrollWidth > innerWidth,
  })`);
  expect(shown).toEqual({ hacked: false, scripts: 0, isWide: false });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('axe finds nothing serious on any page, in light and dark, and on a phone', async () => {
  const general = await channelId();
  const { page, faults } = await logIn('member');
  for (const path of [
    '/',
    `/channel/${general}`,
    `/channel/${general}/topic/welcome`,
    `/dm/${system.people.member2.user_id}`,
  ]) {
    await page.goto(system.url + path);
    await page.getByRole('region', { name: 'Messages' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([path, colorScheme, await findingsOf(page)]).toEqual([path, colorScheme, []]);
    }
  }
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  expect([await findingsOf(page), faults]).toEqual([[], []]);
  await page.getByRole('button', { name: 'Conversations' }).click();
  await page.getByRole('button', { name: /^Account of/ }).click();
  expect(await findingsOf(page)).toEqual([]);
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.waitForURL('**/accounts/login*');
  expect(await findingsOf(page)).toEqual([]);
  await page.context().close();
});
