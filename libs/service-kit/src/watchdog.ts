import { Worker } from 'node:worker_threads';

export interface WatchdogData {
  service: string;
  /** First a count that a timer of the main thread increments, then 1 once the process is ready. */
  beats: Int32Array;
  lookEveryMs: number;
  /** Checks without a beat after which the process ends if it has computed for `minCpuMs` since the last beat. */
  maxSilentLooks: number;
  minCpuMs: number;
  /** Checks without a beat after which the process ends in any case. */
  mostSilentLooks: number;
  /** How many times as many checks while the process is starting. */
  startFactor: number;
}

const beatEveryMs = 500;
const lookEveryMs = 1_000;
const maxSilentLooks = 4;
const minCpuMs = 3_000;
const mostSilentLooks = 60;
/** A start may block the event loop for long on a slow machine. */
const startFactor = 12;
const memory = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };

/**
 * Ends this process when its main thread has run no timer for four seconds, after logging its stack: another process
 * then completes its requests, and it is restarted. Time in which the whole process was stopped does not count. A
 * process that uses almost no CPU, on a machine busy with others, has a minute. Until the returned function is called,
 * the process is starting, and all limits are twelve times as long.
 */
export function startWatchdog(service: string): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  setInterval(() => Atomics.add(beats, 0, 1), beatEveryMs).unref();
  const workerData: WatchdogData = {
    service,
    beats,
    lookEveryMs,
    maxSilentLooks,
    minCpuMs,
    mostSilentLooks,
    startFactor,
  };
  const file = import.meta.url.endsWith('.ts') ? './watchdog-thread.ts' : './watchdog-thread.mjs';
  const thread = new Worker(new URL(file, import.meta.url), { workerData, resourceLimits: memory });
  // Without the thread a hanging process is not ended.
  thread.on('error', () => undefined);
  thread.unref();
  return () => void Atomics.store(beats, 1, 1);
}
