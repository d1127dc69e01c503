import { AsyncLocalStorage } from 'node:async_hooks';
import { type Deadline, untilDeadline } from './deadline.ts';
import { FairQueue, type Owner } from './fair-queue.ts';

const storage = new AsyncLocalStorage<Owner>();
/** Work of the service itself: consumers, sweeps, timers. */
const background: Owner = { realmId: 0, userId: 0 };

/** Runs work for a person: where it waits for something that is scarce, realms and their people take turns. */
export const withOwner = <R>(owner: Owner, work: () => R): R => storage.run(owner, work);

interface Waiting {
  start: () => void;
  isGone: boolean;
}

export interface Turns {
  /** Resolves when one of the places is free; call the result to give it back. Rejects at the deadline, or where too much waits. */
  take(deadline: Deadline): Promise<() => void>;
  readonly waiting: number;
}

const maxWaiting = 20_000;

/** So many places, for which realms take turns, and in a realm its people: many requests of one delay those of others by one each. */
export function createTurns(places: number): Turns {
  const queue = new FairQueue<Waiting>(maxWaiting);
  let free = places;
  let waiting = 0;

  const giveBack = (): (() => void) => {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      free++;
      next();
    };
  };
  const next = (): void => {
    while (free > 0) {
      const item = queue.shift();
      if (!item) return;
      if (item.isGone) continue;
      free--;
      item.start();
    }
  };

  return {
    async take(deadline) {
      if (free > 0) {
        free--;
        return giveBack();
      }
      const item: Waiting = { start: () => undefined, isGone: false };
      const started = new Promise<void>((resolve) => {
        item.start = resolve;
      });
      if (!queue.push(storage.getStore() ?? background, item)) throw new Error('too much waits for a connection');
      waiting++;
      try {
        await untilDeadline(started, deadline);
      } catch (error) {
        item.isGone = true;
        throw error;
      } finally {
        waiting--;
      }
      return giveBack();
    },
    get waiting() {
      return waiting;
    },
  };
}
