import { setImmediate } from 'node:timers/promises';
import { currentDeadline } from './deadline.ts';

/** The longest time that a loop computes without letting other work run. */
const turnMs = 10;

/**
 * Returns a function that a long loop awaits in each round: after some milliseconds it lets other work of the process
 * run. It throws SERVICE_UNAVAILABLE after the deadline.
 */
export function inTurns(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < turnMs) return;
    await setImmediate();
    currentDeadline()?.check();
    since = performance.now();
  };
}
