import type { Random } from '../../random.ts';
import { TaskHeap } from './heap.ts';
import { currentHost, type Host, runOn } from './hosts.ts';

/**
 * Simulated time. Between two tasks every promise that can settle has settled, so the order of the tasks, which the
 * seed decides, determines the order of everything.
 */
export interface Scheduler {
  readonly random: Random;
  /** Milliseconds since the start of the schedule. */
  now(): number;
  /**
   * Runs `work` after this many milliseconds; on a host, unless the host has crashed by then. Returns a function that
   * cancels it.
   */
  after(ms: number, host: Host | undefined, work: () => void): () => void;
  /** Resolves after this many milliseconds, independent of hosts. */
  pause(ms: number): Promise<void>;
  /**
   * Runs tasks until `isDone`, until none is left, or until simulated time passes `limitMs`. Throws the error of a
   * task.
   */
  run(isDone: () => boolean, limitMs: number): Promise<void>;
  /** Number of executed tasks. */
  readonly steps: number;
  /** Digest of the times of all tasks, in order: equal for equal schedules. */
  readonly digest: number;
}

export function createScheduler(random: Random): Scheduler {
  const heap = new TaskHeap();
  let now = 0;
  let order = 0;
  let steps = 0;
  let digest = 0;

  const push = (at: number, run: () => void): void => heap.push({ at, order: ++order, run });

  function after(ms: number, host: Host | undefined, work: () => void): () => void {
    let isTakenBack = false;
    const run = (): void => {
      if (isTakenBack || host?.hasCrashed) return;
      if (host && host.hangsUntil > now) push(host.hangsUntil, run);
      else if (host && currentHost() !== host) runOn(host, work);
      else work();
    };
    push(now + Math.max(ms, 0), run);
    return () => {
      isTakenBack = true;
    };
  }

  return {
    random,
    now: () => now,
    after,
    pause: (ms) => new Promise((resolve) => void after(ms, undefined, resolve)),
    run: (isDone, limitMs) =>
      new Promise((resolve, reject) => {
        const next = (): boolean => {
          if (isDone() || now > limitMs) return false;
          const task = heap.pop();
          if (!task) return false;
          now = task.at;
          steps++;
          digest = (Math.imul(digest, 31) + Math.floor(now * 1_000)) | 0;
          task.run();
          return true;
        };
        // A tick requested by a microtask runs when no microtask is left.
        const soon = (): void => queueMicrotask(() => process.nextTick(step));
        const step = (): void => {
          try {
            if (next()) soon();
            else resolve();
          } catch (error) {
            reject(error as Error);
          }
        };
        soon();
      }),
    get steps() {
      return steps;
    },
    get digest() {
      return digest;
    },
  };
}
