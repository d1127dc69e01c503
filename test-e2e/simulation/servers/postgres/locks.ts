import { PostgresError } from './postgres-error.ts';

type Mode = 'shared' | 'exclusive';

/** The holder of locks: one transaction. */
interface Locker {
  readonly lockTimeoutMs: number;
}

interface Waiting {
  locker: Locker;
  mode: Mode;
  grant: () => void;
  refuse: (error: Error) => void;
}

interface Lock {
  holders: Map<Locker, Mode>;
  queue: Waiting[];
}

/** Row locks and advisory locks, held to the end of the transaction, granted in the order of the requests. */
export interface Locks {
  /** Rejects with 55P03 after the lock time-out, with 40P01 if waiting would deadlock. */
  take(locker: Locker, name: string, mode?: Mode): Promise<void>;
  /** Takes the lock only if it is free. */
  tryTake(locker: Locker, name: string, mode?: Mode): boolean;
  release(locker: Locker): void;
  /** Ends the wait of a locker, if it waits. */
  interrupt(locker: Locker, error: Error): void;
  /** Number of held or awaited locks. */
  readonly size: number;
}

export function createLocks(after: (ms: number, work: () => void) => () => void): Locks {
  const locks = new Map<string, Lock>();
  const waits = new Map<Locker, { name: string; waiting: Waiting }>();

  const conflicts = (lock: Lock, locker: Locker, mode: Mode): boolean =>
    [...lock.holders].some(([other, held]) => other !== locker && (held === 'exclusive' || mode === 'exclusive'));

  function tryTake(locker: Locker, name: string, mode: Mode = 'exclusive'): boolean {
    const lock = locks.get(name) ?? { holders: new Map(), queue: [] };
    const held = lock.holders.get(locker);
    if (held === 'exclusive' || held === mode) return true;
    const isBehind = lock.queue.some((one) => mode === 'exclusive' || one.mode === 'exclusive');
    if (conflicts(lock, locker, mode) || (isBehind && held === undefined)) return false;
    lock.holders.set(locker, mode);
    locks.set(name, lock);
    return true;
  }

  function take(locker: Locker, name: string, mode: Mode = 'exclusive'): Promise<void> {
    if (tryTake(locker, name, mode)) return Promise.resolve();
    if (waitsFor(name, locker)) return Promise.reject(new PostgresError('40P01', 'deadlock detected'));
    return new Promise((resolve, reject) => {
      const stop = after(locker.lockTimeoutMs, () =>
        interrupt(locker, new PostgresError('55P03', 'canceling statement due to lock timeout')),
      );
      const waiting: Waiting = {
        locker,
        mode,
        grant: () => {
          stop();
          waits.delete(locker);
          resolve();
        },
        refuse: (error) => {
          stop();
          reject(error);
        },
      };
      waits.set(locker, { name, waiting });
      locks.get(name)?.queue.push(waiting);
    });
  }

  /** Whether any holder for which a request would wait already waits for the locker. */
  function waitsFor(name: string, locker: Locker, seen = new Set<string>()): boolean {
    if (seen.has(name)) return false;
    seen.add(name);
    const others = [...(locks.get(name)?.holders.keys() ?? [])].filter((other) => other !== locker);
    return others.some((other) => {
      const awaited = waits.get(other)?.name;
      if (awaited === undefined) return false;
      return locks.get(awaited)?.holders.has(locker) || waitsFor(awaited, locker, seen);
    });
  }

  function grantNext(name: string, lock: Lock): void {
    for (let next = lock.queue[0]; next && !conflicts(lock, next.locker, next.mode); next = lock.queue[0]) {
      lock.queue.shift();
      lock.holders.set(next.locker, next.mode);
      next.grant();
    }
    if (lock.holders.size === 0 && lock.queue.length === 0) locks.delete(name);
  }

  function interrupt(locker: Locker, error: Error): void {
    const wait = waits.get(locker);
    if (!wait) return;
    waits.delete(locker);
    const lock = locks.get(wait.name);
    if (lock) {
      lock.queue = lock.queue.filter((one) => one !== wait.waiting);
      grantNext(wait.name, lock);
    }
    wait.waiting.refuse(error);
  }

  return {
    take,
    tryTake,
    interrupt,
    release(locker) {
      for (const [name, lock] of [...locks]) if (lock.holders.delete(locker)) grantNext(name, lock);
    },
    get size() {
      return locks.size;
    },
  };
}
