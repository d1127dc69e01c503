/** Runs in a separate thread and watches the main thread. */
import { writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import type { WatchdogData } from './watchdog.ts';

const { service, beats, lookEveryMs, maxSilentLooks, minCpuMs, mostSilentLooks, startFactor } =
  workerData as WatchdogData;
/** The debugger interrupts loops and regular expressions. Code that it cannot interrupt is not waited for. */
const stackMs = 5_000;

let last = -1;
let silent = 0;
let lastCpu = process.cpuUsage();
const timer = setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now !== last) lastCpu = process.cpuUsage();
  silent = now === last ? silent + 1 : 0;
  last = now;
  const { user, system } = process.cpuUsage(lastCpu);
  const factor = Atomics.load(beats, 1) === 1 ? 1 : startFactor;
  const isHung = silent >= maxSilentLooks * factor && (user + system) / 1_000 >= minCpuMs;
  if (!isHung && silent < mostSilentLooks * factor) return;
  clearInterval(timer);
  const session = new Session();
  session.connectToMainThread();
  session.on('Debugger.paused', ({ params }) => end(stackOf(params.callFrames)));
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  setTimeout(() => end('unknown'), stackMs);
}, lookEveryMs);

const stackOf = (frames: readonly Debugger.CallFrame[]): string =>
  frames
    .map(
      ({ functionName, url, location }) =>
        `    at ${functionName || '<anonymous>'} (${url}:${location.lineNumber + 1})`,
    )
    .join('\n');

function end(stack: string): void {
  const time = new Date().toISOString();
  const msg = 'the event loop hangs, the process ends';
  const line = { level: 60, time, service, pid: process.pid, stalledMs: silent * lookEveryMs, stack, msg };
  try {
    writeSync(1, `${JSON.stringify(line)}\n`);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
