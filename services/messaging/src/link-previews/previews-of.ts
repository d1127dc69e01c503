import type { Database } from '@natter/database';
import { type PagePreview, pagePreviewHtml } from '@natter/markdown';
import type { ProcessWatch } from '@natter/service-kit';
import { checkedUrl, type ReachRules, Refused } from '../model/outgoing/guarded-request.ts';
import { askNameServers, hasNoAddress, type Resolve } from '../model/outgoing/resolve-name.ts';
import type { InTurn } from '../model/outgoing/turns.ts';
import { fetchPage } from './fetch-page.ts';
import type { PreviewJob } from './jobs.ts';
import { cachedPages, fetchesLeft, storePage } from './page-cache.ts';
import { previewOf } from './page-preview.ts';

/** Previews that would make them longer are left out. In characters. */
const maxHtmlLength = 64 * 1024;

/** No page is requested later in a job; the lease of the job is longer than this and a fetch. */
const startWithinMs = 15_000;
const timeoutMs = 5_000;
const maxBytes = 128 * 1024;

export interface Fetching {
  database: Database;
  inTurn: InTurn;
  rules: ReachRules;
  process: ProcessWatch;
  /** When a name server last answered, about any name, in terms of `performance.now()`. */
  names: { answeredAt: number };
  /** Ends all fetches: the process stops. */
  signal: AbortSignal;
}

export interface Previews {
  /** In the order of the links; empty if no page has anything to show. */
  html: string;
  /** Whether a page could not be requested, because of this process, its machine or its name servers: later it may be. */
  isUnrequested: boolean;
  /** Whether that is the fault of a page: name servers answered for other names while they did not for its name. */
  isAttempt: boolean;
}

/** The previews of all pages of a job. */
export async function previewsOf(fetching: Fetching, job: PreviewJob, key: string): Promise<Previews> {
  const { realm_id, urls } = job;
  const addresses = new Map(
    urls.flatMap((href) => {
      const address = pageAddress(href, fetching.rules);
      return address === undefined ? [] : [[href, address]];
    }),
  );
  const pages = await cachedPages(fetching.database, realm_id, [...addresses.values()]);
  const missing = [...new Set(addresses.values())].filter((address) => !pages.has(address));
  const { causedBy, left } = missing.length === 0 ? nothingLeft : await fetchesLeft(fetching.database, job);
  const until = performance.now() + startWithinMs;
  let [isUnrequested, isAttempt] = [false, false];
  await Promise.all(
    missing.slice(0, left).map(async (address) => {
      const page = await fetched(fetching, { realmId: realm_id, causedBy, address, until });
      if (page !== 'unrequested' && page !== 'unnamed') return void pages.set(address, page);
      isUnrequested = true;
      if (page === 'unnamed') isAttempt = true;
    }),
  );
  let html = '';
  for (const [href, address] of addresses) {
    const page = pages.get(address);
    const added = page ? pagePreviewHtml(href, page, key) : '';
    if (html.length + added.length <= maxHtmlLength) html += added;
  }
  return { html, isUnrequested, isAttempt };
}

const nothingLeft = { causedBy: 0, left: 0 };

/**
 * The address that is requested: without the part that names a place in the page. Undefined if the server may not request
 * it; so it does not count as a fetch.
 */
function pageAddress(href: string, rules: ReachRules): string | undefined {
  const url = URL.parse(href);
  if (url === null) return undefined;
  url.hash = '';
  try {
    return checkedUrl(url.href, rules).href;
  } catch {
    return undefined;
  }
}

/** Failures to connect to any site. */
const ofThisMachine = new Set(['ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE']);
const isOfThisMachine = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ofThisMachine.has(String(error.code));

async function fetched(
  { database, inTurn, rules, process, names, signal }: Fetching,
  { realmId, causedBy, address, until }: { realmId: number; causedBy: number; address: string; until: number },
): Promise<PagePreview | undefined | 'unrequested' | 'unnamed'> {
  return inTurn({ realmId, requester: String(causedBy), address, signal }, async () => {
    signal.throwIfAborted();
    const begunAt = performance.now();
    if (begunAt > until) return process.stoodStillSince(until - startWithinMs) ? 'unrequested' : undefined;
    let isNamed = true;
    let askedAt = begunAt;
    const resolve: Resolve = async (name, until) => {
      isNamed = false;
      askedAt = performance.now();
      try {
        const found = await (rules.resolve ?? askNameServers())(name, until);
        isNamed = true;
        return found;
      } catch (error) {
        isNamed = hasNoAddress(error);
        throw error;
      } finally {
        if (isNamed) names.answeredAt = performance.now();
      }
    };
    // A failing site is not a fault of this server, so it is not logged.
    const page = await fetchPage(address, { ...rules, resolve, maxBytes, timeoutMs, signal }).then(
      ({ html, url }) => previewOf(html, url),
      (error: unknown) => {
        if (error instanceof Refused) return undefined;
        // A response that arrives while this process stands still is read too late.
        if (isOfThisMachine(error) || process.stoodStillSince(begunAt)) return 'unrequested';
        if (isNamed) return undefined;
        return names.answeredAt > askedAt ? 'unnamed' : 'unrequested';
      },
    );
    // The result of an aborted fetch is not stored, because it does not depend on the page.
    signal.throwIfAborted();
    if (page === 'unrequested' || page === 'unnamed') return page;
    await storePage(database, { realmId, causedBy, url: address, page });
    return page;
  });
}
