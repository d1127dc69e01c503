import { FairQueue } from '@natter/database';

const atOnce = 8;
const atOncePerRealm = 4;
const maxWaiting = 200;

/** Too many fetches wait. Nothing was fetched, so this tells nothing of the address. */
export class Busy extends Error {}

export type InTurn = <R>(realmId: number, work: () => Promise<R>) => Promise<R>;

/** Limits concurrent fetches, in total and per realm; realms take turns. Throws `Busy` if too many wait. */
export function createTurns(): InTurn {
  const waiting = new FairQueue<{ realmId: number; start: () => void }>(maxWaiting);
  const running = new Map<number, number>();
  let total = 0;

  return <R>(realmId: number, work: () => Promise<R>): Promise<R> => {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const start = (): void => {
      void work()
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
