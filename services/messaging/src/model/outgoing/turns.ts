import { createHash } from 'node:crypto';
import { Counts, FairQueue } from '@natter/database';

const atOnce = 16;
const atOncePerRealm = atOnce / 2;
/** Maximum number of running fetches of one requester, so that turns are left for other requesters. */
const atOncePerRequester = atOncePerRealm / 2;
/** Maximum number of running fetches from one host, so that a host without answers leaves turns for others. */
const atOncePerHost = atOncePerRequester / 2;
const maxWaiting = 400;
const maxWaitingPerRealm = maxWaiting / 2;
const maxWaitingPerRequester = maxWaitingPerRealm / 2;
/** A turn ends after this time; longer than the time limit of a fetch. */
const longestTurnMs = 15_000;

/** The error if too many fetches wait. The address was not requested, so the error must not be stored for it. */
export class Busy extends Error {}

interface Fetched {
  realmId: number;
  /** The person that causes the fetch or, without an account, the network. */
  requester: string;
  address: string;
  /** Aborted when nobody waits for the fetch any more. It leaves the queue, unless it runs. */
  signal?: AbortSignal | undefined;
}

export type InTurn = <R>(fetched: Fetched, work: () => Promise<R>) => Promise<R>;

interface Waiting {
  realmId: number;
  requester: string;
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

/** The fetches of a realm that wait, by requester. Hosts take the place of realms in these queues. */
type Line = Map<string, FairQueue<Waiting>>;
const sizeOf = (line: Line): number => [...line.values()].reduce((sum, { size }) => sum + size, 0);

/**
 * Limits concurrent fetches, in total, per realm, per requester and per host of a realm. Realms take turns, within a realm
 * its requesters, and the hosts that a requester asks for. A turn ends at a deadline, so that work without an end takes no
 * place for good. Throws `Busy` if too many wait: a realm, within it a requester, and of that a host, may add a fetch only
 * while it has fewer than are free.
 */
export function createTurns(limitMs = longestTurnMs): InTurn {
  const lines = new Map<number, Line>();
  const running = new Counts<string>();
  let total = 0;

  return <R>({ realmId, requester, address, signal }: Fetched, work: () => Promise<R>): Promise<R> => {
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
          count(-1, { realmId, requester, host });
          startNext();
        });
    };
    const remove = signal?.aborted ? undefined : push({ realmId, requester, host, start });
    if (!remove) return Promise.reject(new Busy('too many fetches wait'));
    signal?.addEventListener('abort', abandon, { once: true });
    startNext();
    return promise;
  };

  function push(fetch: Waiting): (() => void) | undefined {
    const line = lines.get(fetch.realmId) ?? new Map<string, FairQueue<Waiting>>();
    const queue = line.get(fetch.requester) ?? new FairQueue<Waiting>(maxWaitingPerRequester);
    const waiting = [...lines.values()].reduce((sum, one) => sum + sizeOf(one), 0);
    const ofRealm = sizeOf(line);
    if (ofRealm >= maxWaiting - waiting || queue.size >= maxWaitingPerRealm - ofRealm) return undefined;
    const remove = queue.push({ realmId: fetch.host, userId: 0 }, fetch);
    if (remove) lines.set(fetch.realmId, line.set(fetch.requester, queue));
    return remove;
  }

  function startNext(): void {
    while (total < atOnce) {
      const next = takeNext();
      if (!next) return;
      count(1, next);
      next.start();
    }
  }

  function takeNext(): Waiting | undefined {
    return takeInTurn(lines, sizeOf, (line, realmId) => {
      if (ran(realmId) >= atOncePerRealm) return undefined;
      return takeInTurn(
        line,
        (queue) => queue.size,
        (queue, requester) =>
          ran(realmId, `by ${requester}`) >= atOncePerRequester
            ? undefined
            : queue.shift((host) => ran(realmId, `from ${host}`) < atOncePerHost),
      );
    });
  }

  function ran(realmId: number, of = ''): number {
    return running.of(`${realmId} ${of}`);
  }

  function count(by: 1 | -1, { realmId, requester, host }: Omit<Waiting, 'start'>): void {
    total += by;
    for (const line of ['', `by ${requester}`, `from ${host}`]) running.add(`${realmId} ${line}`, by);
  }
}

/** Takes a fetch from the first line that has one which may run. The line then moves to the end, or ends if it is empty. */
function takeInTurn<K, L, T>(
  lines: Map<K, L>,
  sizeOf: (line: L) => number,
  take: (line: L, key: K) => T | undefined,
): T | undefined {
  for (const [key, line] of lines) {
    const taken = take(line, key);
    if (taken !== undefined || sizeOf(line) === 0) lines.delete(key);
    if (taken === undefined) continue;
    if (sizeOf(line) > 0) lines.set(key, line);
    return taken;
  }
  return undefined;
}

/** A number for the host of an address. Hosts with the same number take turns as one. */
const hostOf = (address: string): number =>
  createHash('sha256')
    .update(URL.parse(address)?.hostname ?? address)
    .digest()
    .readUInt32BE();
