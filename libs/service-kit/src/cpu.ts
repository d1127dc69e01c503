import { AsyncLocalStorage } from 'node:async_hooks';

const scopes = new AsyncLocalStorage<{ ms: number }>();

let running = 0;
/**
 * CPU milliseconds that a piece of work would have received so far if it had run since the process started, at an equal
 * share.
 */
let share = 0;
let usedMs = cpuMs();
let lookedAt = 0;
/** Reading the counters costs some microseconds, and short requests need not be distinguished. */
const lookEveryMs = 2;

/**
 * Estimates the CPU time of `work`, in milliseconds: an equal share of what the process used, with all threads, while
 * `work` and others were in progress, plus what called services reported.
 */
export async function measureCpu<R>(work: (spentMs: () => number) => Promise<R>): Promise<R> {
  advance();
  running++;
  const [began, scope] = [share, { ms: 0 }];
  const spentMs = (): number => {
    advance();
    return share - began + scope.ms;
  };
  try {
    return await scopes.run(scope, () => work(spentMs));
  } finally {
    advance();
    running--;
  }
}

/** Adds CPU time of another process to the running work. */
export function addCpu(ms: number): void {
  const scope = scopes.getStore();
  if (scope) scope.ms += ms;
}

function advance(): void {
  const at = performance.now();
  if (at - lookedAt < lookEveryMs) return;
  lookedAt = at;
  const now = cpuMs();
  if (running > 0) share += (now - usedMs) / running;
  usedMs = now;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
