import type { SharedFeed } from './shared-feed.ts';

/**
 * The name under which tabs share a queue. Tabs of another release have other code for the same state; the address of
 * this file contains a hash of it. Without https a browser has no locks: each tab has a queue of its own.
 */
export const sharedName = (ownId: number): string | undefined =>
  'locks' in navigator && 'BroadcastChannel' in globalThis
    ? `natter queue ${ownId} ${new URL(import.meta.url).pathname}`
    : undefined;

/** A page that waits in the back/forward cache neither leads nor listens. */
export function followPage(feed: SharedFeed): void {
  addEventListener('pagehide', () => feed.leave());
  addEventListener('pageshow', ({ persisted }) => persisted && feed.join());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') feed.shown();
  });
}
