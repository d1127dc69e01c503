import { randomId } from './random-id.ts';
import type { SharedFeed } from './shared-feed.ts';

/**
 * The name under which tabs share a queue. Tabs of another release have other code for the same state; the address of
 * this file contains a hash of it. Without https a browser has no locks: each tab has a queue of its own.
 */
export const sharedName = (ownId: number): string | undefined =>
  'locks' in navigator && 'BroadcastChannel' in globalThis
    ? `natter queue ${ownId} ${new URL(import.meta.url).pathname}`
    : undefined;

/** The name of a lock that this page holds while it is open. Its entries in the storage belong to it until then. */
export const ownTab = `natter tab ${randomId()}`;

/** The names of the locks that the pages of this browser hold. */
export type HeldLocks = ReadonlySet<string | undefined>;

export async function queryLocks(): Promise<HeldLocks> {
  const { held = [] } = 'locks' in navigator ? await navigator.locks.query().catch(() => ({ held: [] })) : {};
  return new Set(held.map(({ name }) => name));
}

let release = (): void => undefined;

function holdTab(): void {
  const gone = new Promise<void>((resolve) => {
    release = resolve;
  });
  if ('locks' in navigator) navigator.locks.request(ownTab, () => gone).catch(() => undefined);
}

/** Releases the stored texts of this page to the next page. */
export const leaveTab = (): void => release();

/** A page that waits in the back/forward cache neither leads nor listens, nor holds a lock. */
export function followPage(feed: SharedFeed): void {
  holdTab();
  addEventListener('pagehide', () => {
    feed.leave();
    leaveTab();
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    feed.join();
    holdTab();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') feed.shown();
  });
}
