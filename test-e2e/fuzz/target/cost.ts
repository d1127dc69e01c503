/** CPU that one request costs the processes of the system, measured while no other request runs. */
import { cpuOf, differenceOf } from '../../measure/processes.ts';
import type { WatchedSystem } from './watched-system.ts';

/** A slower request may have computed for a second; a faster one has not. */
const slowMs = 1_000;
/** Pause of other requests while a slow request is repeated, in milliseconds. */
const pauseMs = 5_000;

/** Selects the requests that are worth repeating. */
export function createSuspects(): { is(elapsedMs: number): boolean; count(): number } {
  let until = 0;
  let count = 0;
  return {
    is(elapsedMs) {
      if (elapsedMs < slowMs || performance.now() < until) return false;
      until = performance.now() + pauseMs;
      count++;
      return true;
    },
    count: () => count,
  };
}

/**
 * The service that used the most CPU on all its threads, and the amount. Servers are excluded, because they do
 * background work at any time.
 */
export async function costOf<R>(
  { services }: WatchedSystem,
  work: () => Promise<R>,
): Promise<{ result: R; process: string; ms: number }> {
  const before = cpuOf(services);
  const result = await work();
  const used = Object.entries(differenceOf(cpuOf(services), before));
  const [process, ms] = used.reduce((most, one) => (one[1] > most[1] ? one : most), ['none', 0] as [string, number]);
  return { result, process, ms };
}
