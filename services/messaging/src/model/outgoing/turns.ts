import { FairQueue } from '@natter/database';

const atOnce = 8;
const atOncePerRealm = 4;
const maxWaiting = 200;
/** Longer than a fetch takes, with its own limit. */
const longestTurnMs = 15_000;

/** Too many fetches wait. Nothing was fetched, so this tells nothing of the address. */
export class Busy extends Error {}

export type InTurn = <R>(realmId: number, work: () => Promise<R>) => Promise<R>;

/** Ends at a deadline, also if the work never settles. */
export async function within<R>(limitMs: number, work: () => Promise<R>): Promise<R> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done after ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Limits concurrent fetches, in total and per realm; realms take turns. A turn ends at a deadline, so that work without an
 * end takes no place for good. Throws `Busy` if too many wait.
 */
export function createTurns(limitMs = longestTurnMs): InTurn {
  const waiting = new FairQueue<{ realmId: number; start: () => void }>(maxWaiting);
  const running = new Map<number, number>();
  let total = 0;

  return <R>(realmId: number, work: () => Promise<R>): Promise<R> => {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const start = (): void => {
      void within(limitMs, work)
        .then(resolve, reject)
        .finally(() => ended(realmId));
    };
    if (!waiting.push({ realmId, userId: 0 }, { realmId, start }))
      return Promise.reject(new Busy('too many fetches wait'));
    startNext();
    return promise;
  };

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
