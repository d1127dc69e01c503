import { AsyncLocalStorage } from 'node:async_hooks';
import { currentHost } from './hosts.ts';
import type { Scheduler } from './scheduler.ts';

/** 2026-01-01 in UTC. */
const epochMs = 1_767_225_600_000;
/** Maximum delay of a timer, as on a busy event loop. */
const lateMs = 0.5;

/** The value of `Date.now` on a host with a correct clock. */
export const dateAt = (scheduler: Scheduler): number => epochMs + scheduler.now();

class SimulatedTimer {
  readonly cancel: () => void;
  constructor(cancel: () => void) {
    this.cancel = cancel;
  }
  unref(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

type Callback = (...args: unknown[]) => void;

/**
 * Replaces timers, clocks and randomness of this process by those of the scheduler. Returns a function that restores
 * the real ones.
 */
export function takeOverGlobals(scheduler: Scheduler): () => void {
  const { random } = scheduler;
  const names = [
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'setImmediate',
    'clearImmediate',
  ] as const;
  const real = Object.fromEntries(names.map((name) => [name, globalThis[name]]));
  const [dateNow, performanceNow, mathRandom] = [Date.now, performance.now, Math.random];

  const start = (callback: Callback, ms: number, args: unknown[]): SimulatedTimer => {
    const inContext = AsyncLocalStorage.snapshot();
    return new SimulatedTimer(
      scheduler.after(ms + random.next() * lateMs, currentHost(), () => inContext(() => callback(...args))),
    );
  };
  const repeat = (callback: Callback, ms: number, args: unknown[]): SimulatedTimer => {
    let timer: SimulatedTimer;
    const next = (): void => {
      timer = start(again, ms, []);
    };
    const again = (): void => {
      next();
      callback(...args);
    };
    next();
    return new SimulatedTimer(() => timer.cancel());
  };
  const clear = (timer: unknown): void => {
    if (timer instanceof SimulatedTimer) timer.cancel();
  };

  Object.assign(globalThis, {
    setTimeout: (callback: Callback, ms = 0, ...args: unknown[]) => start(callback, ms, args),
    setInterval: (callback: Callback, ms = 0, ...args: unknown[]) => repeat(callback, ms, args),
    setImmediate: (callback: Callback, ...args: unknown[]) => start(callback, 0, args),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  });
  Date.now = () => Math.floor(dateAt(scheduler) + (currentHost()?.clockOffsetMs ?? 0));
  performance.now = () => scheduler.now();
  Math.random = random.next;
  return () => {
    Object.assign(globalThis, real);
    Object.assign(Date, { now: dateNow });
    Object.assign(performance, { now: performanceNow });
    Object.assign(Math, { random: mathRandom });
  };
}
