import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { findChromium } from '@natter/local/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';

export async function openBrowser(options: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    timeout: 120_000,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync', ...options],
    ],
  });
}

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

/** The serious and critical findings of axe. Code for the page is text, because this program has no types of the DOM. */
export async function findingsOf(page: Page): Promise<unknown[]> {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}
