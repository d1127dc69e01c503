import { createSharedCache, stringBytes } from '@natter/service-kit';
import { Refused } from '../model/outgoing/guarded-request.ts';
import { Busy, createTurns } from '../model/outgoing/turns.ts';
import type { Media } from './fetch-media.ts';

const keptMs = 3_600_000;
/** How long a failed address is not fetched again. */
const failureKeptMs = 60_000;
const failureBytes = 4 * 1024 * 1024;

/** The reader of an address. Members of a realm share results, and the networks of its readers take turns. */
export interface Reader {
  realmId: number;
  requester: string;
}

/**
 * Limits concurrent fetches, in total, per realm, per requester and per host; they take turns. Concurrent requests of a realm
 * for an address share a running fetch. Requests of one requester also share a waiting fetch; it leaves the queue when all of
 * them have ended. Each requester has a separate line, so nobody waits in the line of a user who requested the same address
 * earlier. Results are cached for an hour, failures for a minute. Realms share only the memory, not the results: a quick
 * answer would show a realm that others read an address.
 */
export function createBoundedFetches(
  fetch: (address: string) => Promise<Media>,
  cacheBytes: number,
): (reader: Reader, address: string, signal?: AbortSignal) => Promise<Media> {
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
  /** Waiting and running fetches by realm, address and requester. */
  const underWay = new Map<string, Shared>();
  /** Running fetches by realm and address. */
  const running = new Map<string, Shared>();
  const inTurn = createTurns();

  return async (reader, address, signal) => {
    const known = knownOf(reader.realmId, address);
    if (known) return known;
    const key = `${reader.realmId} ${address}`;
    const shared = running.get(key) ?? underWay.get(`${key} ${reader.requester}`) ?? begin(reader, address);
    return awaited(shared, signal);
  };

  function knownOf(realmId: number, address: string): Media | undefined {
    const known = cache.get(realmId, address);
    if (known) return known;
    const failure = failures.get(realmId, address);
    if (failure) throw failure;
    return undefined;
  }

  function begin({ realmId, requester }: Reader, address: string): Shared {
    const key = `${realmId} ${address}`;
    const abandoned = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<Media>();
    const shared: Shared = { fetched: promise, readers: 0, abandoned };
    underWay.set(`${key} ${requester}`, shared);
    // Another requester may have had a turn for the address meanwhile.
    const fetchOnce = async (): Promise<Media> => {
      const known = knownOf(realmId, address) ?? running.get(key)?.fetched;
      if (known) return known;
      running.set(key, shared);
      return fetch(address);
    };
    void inTurn({ realmId, requester, address, signal: abandoned.signal }, fetchOnce)
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
      .finally(() => {
        underWay.delete(`${key} ${requester}`);
        if (running.get(key) === shared) running.delete(key);
      })
      .then(resolve, reject);
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
