import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@natter/client';
import { type System, type SystemOptions, startSystem } from '@natter/local/system';
import { buildWebClient } from '@natter/web/build';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from './browsers.ts';

export type PersonName = 'owner' | 'moderator' | 'member' | 'member2';

export interface Visit {
  page: Page;
  /** Violations of the policy of the page, and errors of its scripts. */
  faults: string[];
}

/** A system of its own, with the built web client and a browser. */
export interface Web {
  system: System;
  /** ID of the channel "general". */
  general: number;
  clientOf(name: PersonName): Client;
  /** A person logs in with a browser of their own at this path. */
  visit(name: PersonName, path?: string, options?: BrowserContextOptions): Promise<Visit>;
  /** A browser of somebody who is not logged in, at this path. */
  stranger(path?: string): Promise<Visit>;
  close(): Promise<void>;
}

/** Settings of a system in which no test reaches a rate limit. */
export const withoutLimits = { NATTER_RATE_LIMIT: '1000000', NATTER_RATE_LIMIT_REALM: '100000000' };

export async function openWeb(options: Partial<Pick<SystemOptions, 'env' | 'log'>> = {}): Promise<Web> {
  const { env = {}, log = () => undefined } = options;
  await buildWebClient();
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-web-'));
  const system = await startSystem({ dataDir, env: { ...process.env, ...env }, log });
  const close = async (browser?: Browser): Promise<void> => {
    await browser?.close();
    await system.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  const clientOf = (name: PersonName): Client => {
    const { email, api_key } = system.people[name];
    return createClient({ url: system.url, email, apiKey: api_key });
  };
  try {
    const browser = await openBrowser();
    return {
      system,
      general: (await clientOf('member').getStreamId({ stream: 'general' })).stream_id,
      clientOf,
      visit: (name, path = '/', contextOptions = {}) => logIn(browser, system, name, { path, contextOptions }),
      stranger: (path = '/') => arrive(browser, system.url + path, {}),
      close: () => close(browser),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function arrive(browser: Browser, url: string, contextOptions: BrowserContextOptions): Promise<Visit> {
  // Axe would judge the colours of a transition that is under way.
  const context = await browser.newContext({ reducedMotion: 'reduce', ...contextOptions });
  context.setDefaultTimeout(120_000);
  context.setDefaultNavigationTimeout(120_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (line) => {
    if (/Content Security Policy/i.test(line.text())) faults.push(line.text());
  });
  await page.goto(url);
  return { page, faults };
}

async function logIn(
  browser: Browser,
  system: System,
  name: PersonName,
  { path, contextOptions }: { path: string; contextOptions: BrowserContextOptions },
): Promise<Visit> {
  const visit = await arrive(browser, system.url + path, contextOptions);
  const { page } = visit;
  await page.locator('input[name=username]').fill(system.people[name].email);
  await page.locator('input[name=password]').fill(system.people[name].password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('main.conversation').waitFor();
  return visit;
}

/** A message of the server, not the echo of one on its way. */
export const message = (page: Page, text: string) => page.locator('[data-message]').filter({ hasText: text });
