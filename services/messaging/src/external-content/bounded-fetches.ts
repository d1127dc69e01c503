import { LRUCache } from 'lru-cache';
import { Refused } from '../model/outgoing/guarded-request.ts';
import { Busy, createTurns } from '../model/outgoing/turns.ts';
import type { Media } from './fetch-media.ts';

const keptMs = 3_600_000;
/** How long a failed address is not fetched again. */
const failureKeptMs = 60_000;

/**
 * Limits concurrent fetches, in total, per realm and per host; they take turns. Concurrent requests for an address share one
 * fetch, which leaves the queue when all of them are gone. Results are cached for an hour, failures for a minute.
 */
export function createBoundedFetches(
  fetch: (address: string) => Promise<Media>,
  cacheBytes: number,
): (realmId: number, address: string, signal?: AbortSignal) => Promise<Media> {
  const cache = new LRUCache<string, Media>({
    maxSize: cacheBytes,
    sizeCalculation: ({ content }, address) => content.length + 2 * address.length + 1_000,
    ttl: keptMs,
  });
  const failures = new LRUCache<string, Refused>({ max: 10_000, ttl: failureKeptMs });
  const underWay = new Map<string, Shared>();
  const inTurn = createTurns();

  return async (realmId, address, signal) => {
    const known = cache.get(address);
    if (known) return known;
    const failure = failures.get(address);
    if (failure) throw failure;
    return awaited(underWay.get(address) ?? begin(realmId, address), signal);
  };

  function begin(realmId: number, address: string): Shared {
    const abandoned = new AbortController();
    const fetched = inTurn({ realmId, address, signal: abandoned.signal }, () => fetch(address))
      .then(
        (media) => {
          cache.set(address, media);
          return media;
        },
        (error: unknown) => {
          if (!(error instanceof Busy)) failures.set(address, new Refused(String(error)));
          throw error;
        },
      )
      .finally(() => underWay.delete(address));
    const shared = { fetched, readers: 0, abandoned };
    underWay.set(address, shared);
    return shared;
  }
}

/** A fetch, with the number of readers who wait for it. */
interface Shared {
  fetched: Promise<Media>;
  readers: number;
  abandoned: AbortController;
}

async function awaited(shared: Shared, signal: AbortSignal | undefined): Promise<Media> {
  const leave = (): void => {
    if (--shared.readers === 0) shared.abandoned.abort();
  };
  shared.readers++;
  signal?.addEventListener('abort', leave, { once: true });
  try {
    return await shared.fetched;
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}
