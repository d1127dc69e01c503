import { FairQueue } from '@natter/database';
import { LRUCache } from 'lru-cache';
import { type Media, Refused } from './fetch-media.ts';

const atOnce = 8;
const atOncePerRealm = 4;
const maxWaiting = 200;
const keptMs = 3_600_000;
/** How long a failed address is not fetched again. */
const failureKeptMs = 60_000;

/**
 * Limits concurrent fetches, in total and per realm; realms take turns. Concurrent requests for an address share one
 * fetch. Results are cached for an hour, failures for a minute.
 */
export function createBoundedFetches(
  fetch: (address: string) => Promise<Media>,
  cacheBytes: number,
): (realmId: number, address: string) => Promise<Media> {
  const cache = new LRUCache<string, Media>({
    maxSize: cacheBytes,
    sizeCalculation: ({ content }) => content.length + 1_000,
    ttl: keptMs,
  });
  const failures = new LRUCache<string, Refused>({ max: 10_000, ttl: failureKeptMs });
  const underWay = new Map<string, Promise<Media>>();
  const waiting = new FairQueue<{ realmId: number; start: () => void }>(maxWaiting);
  const running = new Map<number, number>();
  let total = 0;

  return async (realmId, address) => {
    const known = cache.get(address) ?? underWay.get(address);
    if (known) return known;
    const failure = failures.get(address);
    if (failure) throw failure;
    const fetched = inTurn(realmId, () => fetch(address)).finally(() => underWay.delete(address));
    underWay.set(address, fetched);
    return fetched.then(
      (media) => {
        cache.set(address, media);
        return media;
      },
      (error: unknown) => {
        if (!(error instanceof Busy)) failures.set(address, new Refused(String(error)));
        throw error;
      },
    );
  };

  function inTurn(realmId: number, work: () => Promise<Media>): Promise<Media> {
    const { promise, resolve, reject } = Promise.withResolvers<Media>();
    const start = (): void => {
      void work()
        .then(resolve, reject)
        .finally(() => ended(realmId));
    };
    if (!waiting.push({ realmId, userId: 0 }, { realmId, start }))
      return Promise.reject(new Busy('too many fetches wait'));
    startNext();
    return promise;
  }

  function startNext(): void {
    while (total < atOnce) {
      const next = waiting.shift((realmId) => (running.get(realmId) ?? 0) < atOncePerRealm);
      if (!next) return;
      total++;
      running.set(next.realmId, (running.get(next.realmId) ?? 0) + 1);
      next.start();
    }
  }

  function ended(realmId: number): void {
    total--;
    const left = (running.get(realmId) ?? 1) - 1;
    if (left === 0) running.delete(realmId);
    else running.set(realmId, left);
    startNext();
  }
}

/** Nothing was fetched, so the failure is not cached. */
class Busy extends Error {}
