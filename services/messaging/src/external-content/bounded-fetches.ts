import { LRUCache } from 'lru-cache';
import { Refused } from '../model/outgoing/guarded-request.ts';
import { Busy, createTurns } from '../model/outgoing/turns.ts';
import type { Media } from './fetch-media.ts';

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
  const inTurn = createTurns();

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
}
