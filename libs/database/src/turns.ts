import { AsyncLocalStorage } from 'node:async_hooks';
import type { Deadline } from './deadline.ts';
import type { Owner } from './fair-queue.ts';
import { WaitingTasks } from './waiting-tasks.ts';

const storage = new AsyncLocalStorage<Owner>();
/** Work of the service itself: consumers, sweeps, timers. */
const background: Owner = { realmId: 0, userId: 0 };

/** Runs work on behalf of a user: when it waits for a limited resource, realms and their users take turns. */
export const withOwner = <R>(owner: Owner, work: () => R): R => storage.run(owner, work);

const priority = new AsyncLocalStorage<boolean>();

/** Runs work that others wait for, without queueing behind them. Few such works run at once. */
export const withPriority = <R>(work: () => R): R => priority.run(true, work);

export interface Turns {
  /** Resolves when a place is free; call the result to release it. Rejects at the deadline, or if too many wait. */
  take(deadline: Deadline): Promise<() => void>;
  readonly waiting: number;
}

const maxWaiting = 20_000;

/**
 * A number of places that realms take in turns, and within a realm its users: many requests of one delay those of
 * others by one each.
 */
export function createTurns(places: number): Turns {
  const tasks = new WaitingTasks(maxWaiting);
  const urgent = new WaitingTasks(maxWaiting);
  let free = places;

  const occupy = (): void => {
    free--;
  };
  const giveBack = (): (() => void) => {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      free++;
      while (free > 0 && (urgent.startNext() || tasks.startNext()));
    };
  };

  return {
    async take(deadline) {
      if (free > 0) occupy();
      else {
        const line = priority.getStore() ? urgent : tasks;
        await line.wait(storage.getStore() ?? background, occupy, deadline);
      }
      return giveBack();
    },
    get waiting() {
      return urgent.size + tasks.size;
    },
  };
}
