import { AsyncLocalStorage } from 'node:async_hooks';
import { Counts } from './counts.ts';
import type { Deadline } from './deadline.ts';
import type { Tenant } from './fair-queue.ts';
import { WaitingTasks } from './waiting-tasks.ts';

const storage = new AsyncLocalStorage<Tenant>();
/** Work of the service itself: consumers, sweeps, timers. */
export const background: Tenant = { realmId: 0, userId: 0 };

/** Runs work on behalf of a user: when it waits for a limited resource, realms and their users take turns. */
export const asTenant = <R>(tenant: Tenant, work: () => R): R => storage.run(tenant, work);

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
 * A number of places, such as connections. Realms take turns for them, and within a realm its users, so many requests of one
 * user delay each request of another by one. A realm that has half of the places may take another only while more than a fifth
 * are free, because its statements may be slow, or wait for one lock. With five places or more, the last tenth, but at least
 * one place, is only for realms that have none.
 */
export function createTurns(places: number): Turns {
  const tasks = new WaitingTasks(maxWaiting);
  const urgent = new WaitingTasks(maxWaiting);
  const taken = new Counts<number>();
  let free = places;

  const forNewcomers = places < 5 ? 0 : Math.max(1, Math.floor(places / 10));
  const mayHaveTurn = (realmId: number): boolean => {
    const has = taken.of(realmId);
    if (has === 0 || realmId === background.realmId) return true;
    return free > (has < places / 2 ? forNewcomers : Math.max(forNewcomers, places / 5));
  };
  const occupy = (realmId: number): void => {
    free--;
    taken.add(realmId);
  };
  const vacate = (realmId: number): void => {
    free++;
    taken.add(realmId, -1);
    while (free > 0 && (urgent.startNext() || tasks.startNext(mayHaveTurn)));
  };

  return {
    async take(deadline) {
      const tenant = storage.getStore() ?? background;
      const isUrgent = priority.getStore() ?? false;
      if (free > 0 && (isUrgent || mayHaveTurn(tenant.realmId))) occupy(tenant.realmId);
      else await (isUrgent ? urgent : tasks).wait(tenant, () => occupy(tenant.realmId), deadline);
      let isTaken = true;
      return () => {
        if (isTaken) vacate(tenant.realmId);
        isTaken = false;
      };
    },
    get waiting() {
      return urgent.size + tasks.size;
    },
  };
}
