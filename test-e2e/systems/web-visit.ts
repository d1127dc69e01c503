import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { findChromium } from '@natter/local/chromium';
import type { System } from '@natter/local/system';
import { type Browser, chromium, type Page } from 'playwright-core';

export type PersonName = 'owner' | 'member' | 'member2';

export interface Visit {
  page: Page;
  /** Violations of the policy of the page, and errors of its scripts. */
  faults: string[];
}

export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    timeout: 120_000,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
    ],
  });
}

/** A person who logs in with a browser of their own, and sees the page that they asked for. */
export async function logIn(browser: Browser, system: System, name: PersonName, path = '/'): Promise<Visit> {
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
  await page.locator('main.conversation').waitFor();
  return { page, faults };
}

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

/** What axe calls serious or critical. Code of the page is given as text: this program knows no documents. */
export async function findingsOf(page: Page): Promise<unknown[]> {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

/** A message of the server, not the echo of one on its way. */
export const message = (page: Page, text: string) => page.locator('[data-message]').filter({ hasText: text });
