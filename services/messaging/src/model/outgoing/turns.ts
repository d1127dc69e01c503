import { createHash } from 'node:crypto';
import { FairQueue } from '@natter/database';

const atOnce = 8;
const atOncePerRealm = 4;
/** Fetches of a realm from one host, so that a host that does not answer leaves turns for others. */
const atOncePerHost = 2;
const maxWaiting = 200;
const maxWaitingPerRealm = maxWaiting / 2;
/** Longer than a fetch takes, with its own limit. */
const longestTurnMs = 15_000;

/** Too many fetches wait. Nothing was fetched, so this tells nothing of the address. */
export class Busy extends Error {}

interface Fetched {
  realmId: number;
  address: string;
  /** Aborted when nobody waits for the fetch any more. It leaves the queue, unless it runs. */
  signal?: AbortSignal | undefined;
}

export type InTurn = <R>(fetched: Fetched, work: () => Promise<R>) => Promise<R>;

interface Waiting {
  realmId: number;
  host: number;
  start: () => void;
}

/** Ends at a deadline, also if the work never settles. */
async function within<R>(limitMs: number, work: () => Promise<R>): Promise<R> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done after ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Limits concurrent fetches, in total, per realm and per host of a realm; realms take turns, and within a realm its hosts.
 * A turn ends at a deadline, so that work without an end takes no place for good. Throws `Busy` if too many wait: a realm,
 * and within it a host, may add a fetch only while it has fewer than are free.
 */
export function createTurns(limitMs = longestTurnMs): InTurn {
  /** The fetches of each realm that wait. Hosts take the place of realms in these queues. */
  const lines = new Map<number, FairQueue<Waiting>>();
  const running = { realms: new Map<number, number>(), hosts: new Map<string, number>() };
  let total = 0;

  return <R>({ realmId, address, signal }: Fetched, work: () => Promise<R>): Promise<R> => {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const host = hostOf(address);
    const abandon = (): void => {
      remove?.();
      reject(new Busy('nobody waits for the fetch'));
    };
    const start = (): void => {
      signal?.removeEventListener('abort', abandon);
      void within(limitMs, work)
        .then(resolve, reject)
        .finally(() => {
          count(-1, realmId, host);
          startNext();
        });
    };
    const remove = signal?.aborted ? undefined : push({ realmId, host, start });
    if (!remove) return Promise.reject(new Busy('too many fetches wait'));
    signal?.addEventListener('abort', abandon, { once: true });
    startNext();
    return promise;
  };

  function push(fetch: Waiting): (() => void) | undefined {
    const line = lines.get(fetch.realmId) ?? new FairQueue<Waiting>(maxWaitingPerRealm);
    const waiting = [...lines.values()].reduce((sum, { size }) => sum + size, 0);
    if (line.size >= maxWaiting - waiting) return undefined;
    const remove = line.push({ realmId: fetch.host, userId: 0 }, fetch);
    if (remove) lines.set(fetch.realmId, line);
    return remove;
  }

  function startNext(): void {
    while (total < atOnce) {
      const next = takeNext();
      if (!next) return;
      count(1, next.realmId, next.host);
      next.start();
    }
  }

  function takeNext(): Waiting | undefined {
    for (const [realmId, line] of lines) {
      if (line.size === 0) lines.delete(realmId);
      if ((running.realms.get(realmId) ?? 0) >= atOncePerRealm) continue;
      const next = line.shift((host) => (running.hosts.get(`${realmId}:${host}`) ?? 0) < atOncePerHost);
      if (!next) continue;
      // The other fetches of the realm queue behind those of other realms.
      lines.delete(realmId);
      if (line.size > 0) lines.set(realmId, line);
      return next;
    }
    return undefined;
  }

  function count(by: 1 | -1, realmId: number, host: number): void {
    total += by;
    add(running.realms, realmId, by);
    add(running.hosts, `${realmId}:${host}`, by);
  }
}

/** A number for the host of an address. Hosts with the same number take turns as one. */
const hostOf = (address: string): number =>
  createHash('sha256')
    .update(URL.parse(address)?.hostname ?? address)
    .digest()
    .readUInt32BE();

function add<K>(counts: Map<K, number>, key: K, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
