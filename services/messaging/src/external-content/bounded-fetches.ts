import { createSharedCache, stringBytes } from '@natter/service-kit';
import { Refused } from '../model/outgoing/guarded-request.ts';
import { Busy, createTurns } from '../model/outgoing/turns.ts';
import type { Media } from './fetch-media.ts';

const keptMs = 3_600_000;
/** How long a failed address is not fetched again. */
const failureKeptMs = 60_000;
const failureBytes = 4 * 1024 * 1024;

/**
 * Limits concurrent fetches, in total, per realm and per host; they take turns. Concurrent requests of a realm for an address
 * share one fetch, which leaves the queue when all of them are gone. Results are cached for an hour, failures for a minute.
 * Realms share nothing but the memory: a quick answer would tell a realm that others read an address.
 */
export function createBoundedFetches(
  fetch: (address: string) => Promise<Media>,
  cacheBytes: number,
): (realmId: number, address: string, signal?: AbortSignal) => Promise<Media> {
  const cache = createSharedCache<Media>({
    maxBytes: cacheBytes,
    sizeOf: ({ content }, address) => content.length + stringBytes(address) + 1_000,
    keptMs,
  });
  const failures = createSharedCache<Refused>({
    maxBytes: failureBytes,
    // An error has a stack.
    sizeOf: ({ message }, address) => 2 * stringBytes(message) + stringBytes(address) + 1_000,
    keptMs: failureKeptMs,
  });
  /** By realm and address. */
  const underWay = new Map<string, Shared>();
  const inTurn = createTurns();

  return async (realmId, address, signal) => {
    const known = cache.get(realmId, address);
    if (known) return known;
    const failure = failures.get(realmId, address);
    if (failure) throw failure;
    return awaited(underWay.get(`${realmId} ${address}`) ?? begin(realmId, address), signal);
  };

  function begin(realmId: number, address: string): Shared {
    const key = `${realmId} ${address}`;
    const abandoned = new AbortController();
    const fetched = inTurn({ realmId, address, signal: abandoned.signal }, () => fetch(address))
      .then(
        (media) => {
          cache.set(realmId, address, media);
          return media;
        },
        (error: unknown) => {
          if (!(error instanceof Busy)) failures.set(realmId, address, new Refused(String(error)));
          throw error;
        },
      )
      .finally(() => underWay.delete(key));
    const shared = { fetched, readers: 0, abandoned };
    underWay.set(key, shared);
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
