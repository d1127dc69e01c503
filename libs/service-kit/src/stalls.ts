import { Counts } from '@natter/database';
import type { Logger } from './logging.ts';
import { Histogram, type Metrics } from './metrics.ts';

/** A stall is measured up to this much too short. */
const lookEveryMs = 100;
const observeAboveMs = 250;
/** CPU time of one uninterrupted turn of the event loop above which it is logged. */
const logAboveMs = 1_000;

const running = new Counts<string>();

/** Counts a piece of work as in progress while it runs, so that a stall can be attributed. */
export async function whileRunning<T>(name: string, work: () => Promise<T>): Promise<T> {
  running.add(name);
  try {
    return await work();
  } finally {
    running.add(name, -1);
  }
}

/**
 * Measures how long the main thread computes without running timers, in CPU time of that thread, so that load of other
 * processes does not count. Above one second the operations in progress are logged.
 */
export function watchStalls(metrics: Metrics, log: Logger): void {
  const stalls = new Histogram({
    name: 'natter_event_loop_stall_seconds',
    help: 'CPU time of the main thread during which no other work of this process could run, above a quarter of a second',
    buckets: [0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [metrics.registry],
  });
  let before = process.threadCpuUsage();
  let lookedAt = performance.now();
  setInterval(() => {
    const used = process.threadCpuUsage(before);
    const lateMs = performance.now() - lookedAt - lookEveryMs;
    before = process.threadCpuUsage();
    lookedAt = performance.now();
    // If the delay exceeds the CPU time used, the process was stopped or starved, not computing.
    const stallMs = Math.min(lateMs, (used.user + used.system) / 1_000);
    if (stallMs < observeAboveMs) return;
    stalls.observe(stallMs / 1_000);
    if (stallMs >= logAboveMs)
      log.warn({ stallMs: Math.round(stallMs), operations: Object.fromEntries(running) }, 'event loop stalled');
  }, lookEveryMs).unref();
}
