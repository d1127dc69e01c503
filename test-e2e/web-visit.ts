import { rm } from 'node:fs/promises';
import { type Client, createClient } from '@natter/client';
import type { System, SystemOptions } from '@natter/local/system';
import { buildWebClient } from '@natter/web/build';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFailed } from 'vitest';
import { openBrowser } from './browsers.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { dataDirectory, openSystem } from './open-system.ts';

export type PersonName = 'owner' | 'moderator' | 'member' | 'member2';

export interface Visit {
  page: Page;
  /** Violations of the policy of the page, and errors of its scripts. */
  faults: string[];
}

/** A system of its own, with the built web client, a mail server and a browser. */
export interface Web {
  system: System;
  mails: MailServer;
  /** ID of the channel "general". */
  general: number;
  /** Path of a topic of the channel "general" in the web client. */
  topicPath(topic: string): string;
  clientOf(name: PersonName): Client;
  /** A person logs in with a browser of their own at this path. */
  visit(name: PersonName, path?: string, options?: BrowserContextOptions): Promise<Visit>;
  /** A browser of somebody who is not logged in, at this path. */
  stranger(path?: string): Promise<Visit>;
  close(): Promise<void>;
}

export async function openWeb(options: Partial<Pick<SystemOptions, 'env' | 'log'>> = {}): Promise<Web> {
  const { env = {}, log = () => undefined } = options;
  await buildWebClient();
  const [dataDir, mails] = await Promise.all([dataDirectory(), startMailServer()]);
  const system = await openSystem({
    dataDir,
    env: { NATTER_RATE_LIMIT_REALM: '100000000', NATTER_SMTP_URL: mails.url, ...env },
    log,
  });
  const close = async (browser?: Browser): Promise<void> => {
    await browser?.close();
    await system.stop();
    await mails.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  const clientOf = (name: PersonName): Client => {
    const { email, api_key } = system.people[name];
    return createClient({ url: system.url, email, apiKey: api_key });
  };
  try {
    const browser = await openBrowser();
    const general = (await clientOf('member').getStreamId({ stream: 'general' })).stream_id;
    return {
      system,
      mails,
      general,
      topicPath: (topic) => `/channel/${general}/topic/${topic}`,
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

/** Ends visits, whose pages must not have had faults. */
export async function leave(...visits: Visit[]): Promise<void> {
  for (const { page, faults } of visits) {
    expect(faults).toEqual([]);
    await page.context().close();
  }
}

async function arrive(browser: Browser, url: string, contextOptions: BrowserContextOptions): Promise<Visit> {
  // Axe would judge the colours of a transition that is under way.
  const context = await browser.newContext({ reducedMotion: 'reduce', ...contextOptions });
  context.setDefaultTimeout(120_000);
  context.setDefaultNavigationTimeout(120_000);
  context.on('page', loadAgain);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (line) => {
    // The browser also logs answers with an error code, which tests cause on purpose.
    if (line.type() === 'error' && !line.text().startsWith('Failed to load resource')) faults.push(line.text());
  });
  reportOnFailure(page, faults);
  await page.goto(url);
  return { page, faults };
}

/** Loads a page again that a busy system refused, or a file of it, as a person would. Forms are left to their tests. */
function loadAgain(page: Page): void {
  let isRefused = false;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) isRefused = false;
  });
  page.on('response', (answer) => {
    const request = answer.request();
    // The client repeats its own requests.
    const isOfPage = request.isNavigationRequest() || new URL(answer.url()).pathname.startsWith('/assets/');
    if (answer.status() === 503 && request.method() === 'GET' && isOfPage) isRefused = true;
  });
  page.on('load', () => {
    if (isRefused) page.reload().catch(() => undefined);
  });
}

/** If the current test fails, prints what the page shows and how it got there, and closes it, so that it reads no more. */
function reportOnFailure(page: Page, faults: readonly string[]): void {
  const paths: string[] = [];
  page.on('framenavigated', (frame) => void paths.push(frame.url()));
  page.on('crash', () => void paths.push('crash'));
  const report = async (): Promise<void> => {
    const shown = await page
      .locator('body')
      .ariaSnapshot({ timeout: 5_000 })
      .catch(() => 'The page is closed.');
    console.error([...paths, ...faults, shown.slice(-8_000)].join('\n'));
    await page.context().close();
  };
  try {
    onTestFailed(report);
  } catch {
    // A hook opened the page.
  }
}

/**
 * A form that `attempt` fills in and sends. It is repeated, after `back`, while a busy system has no time for the hash of
 * the password.
 */
export async function untilHashed(
  page: Page,
  attempt: () => Promise<unknown>,
  back: () => Promise<unknown> = () => page.goBack(),
): Promise<void> {
  for (const end = Date.now() + 120_000; ; await back()) {
    const answer = page.waitForResponse((one) => {
      const request = one.request();
      return request.isNavigationRequest() && request.method() === 'POST';
    });
    await attempt();
    if ((await answer).status() !== 503 || Date.now() > end) return;
  }
}

/** A login that `attempt` sends. */
export async function untilLoggedIn(page: Page, attempt: () => Promise<unknown>): Promise<void> {
  await untilHashed(page, attempt);
  await page.locator('main.conversation').waitFor();
}

/** Fills in the form of the page to log in. */
export const logInAt = (page: Page, { email, password }: { email: string; password: string }): Promise<void> =>
  untilLoggedIn(page, async () => {
    await page.locator('input[name=username]').fill(email);
    await page.locator('input[name=password]').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
  });

async function logIn(
  browser: Browser,
  system: System,
  name: PersonName,
  { path, contextOptions }: { path: string; contextOptions: BrowserContextOptions },
): Promise<Visit> {
  const visit = await arrive(browser, system.url + path, contextOptions);
  await logInAt(visit.page, system.people[name]);
  return visit;
}

/** A message of the server, not the echo of one on its way. */
export const message = (page: Page, text: string) => page.locator('[data-message]').filter({ hasText: text });
