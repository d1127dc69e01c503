import { Counts, currentDeadline, FairQueue, type Tenant } from '@natter/database';
import { Piscina } from 'piscina';
import type { RenderBudget } from './budget.ts';
import type { Job, Jobs } from './jobs.ts';
import type { Done } from './render-worker.ts';

/** The limit that a job without a result exceeded; `failed` for any other error. */
export type RenderLimit = 'budget' | 'queue' | 'wait' | 'cpu' | 'wall' | 'output' | 'failed';
type Outcome<R> = { result: R } | { unfinished: RenderLimit };

export interface WorkerPool {
  run<N extends keyof Jobs>(tenant: Tenant, job: Job<N>): Promise<Outcome<Jobs[N]['result']>>;
  close(): Promise<void>;
}

export interface Limits {
  /** Concurrent jobs; one more thread is kept ready to replace one that was terminated. */
  threads: number;
  /** Concurrent jobs of one realm. */
  perRealm: number;
  /** CPU milliseconds after which a job is given up. Then the message is shown as the author typed it. */
  cpuMs: number;
  /** CPU milliseconds after which the thread is ended. A new thread costs more than a job slightly above `cpuMs`. */
  endAfterCpuMs: number;
  /** Milliseconds of real time after which a thread without CPU, or with an unknown CPU time, is terminated. */
  wallMs: number;
  /** Maximum wait for a thread that is busy with other jobs. */
  waitMs: number;
  /** Maximum wait while the threads start; less if the request has less time left, but not less than `waitMs`. */
  startMs: number;
  maxWaiting: number;
}

interface Waiting {
  tenant: Tenant;
  job: Job;
  since: number;
  /** The latest time when a thread begins the job. */
  beginBy: number;
  finish: (outcome: Outcome<Jobs[keyof Jobs]['result']>) => void;
}

/** Time that is kept for the rest of the request after its text is rendered. */
const reserveMs = 4_000;
const memory = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };
const watchEveryMs = 20;
/** CPU time of starting another thread, charged to the user who caused it. */
const restartMs = 700;
/** Factor for V8's compiler and garbage collector threads that work for a job's thread. */
const helpersToo = 1.5;

/** Runs jobs in threads that are terminated when a job exceeds its limit. */
export function createWorkerPool(budget: RenderBudget, limits: Limits): WorkerPool {
  const pool = new Piscina({
    filename: new URL(import.meta.url.endsWith('.ts') ? './render-worker.ts' : './render-worker.mjs', import.meta.url)
      .href,
    minThreads: limits.threads + 1,
    maxThreads: limits.threads + 1,
    atomics: 'async',
    resourceLimits: memory,
  });
  // A thread that could not start is started again; each waiting job reports its own failure.
  pool.on('error', () => undefined);
  const waiting = new FairQueue<Waiting>(limits.maxWaiting);
  const running = new Counts<number>();
  const freeSlots = Array.from({ length: limits.threads }, (_, slot) => slot);
  /** The last time when a job waited for a thread that was starting. */
  let startingAt = Number.NEGATIVE_INFINITY;
  const marks = new Float64Array(new SharedArrayBuffer(2 * limits.threads * Float64Array.BYTES_PER_ELEMENT));

  return {
    run: <N extends keyof Jobs>(tenant: Tenant, job: Job<N>) =>
      new Promise<Outcome<Jobs[N]['result']>>((resolve) => {
        if (!budget.allows(tenant)) return resolve({ unfinished: 'budget' });
        const finish = resolve as Waiting['finish'];
        const since = performance.now();
        const leftMs = (currentDeadline()?.remainingMs() ?? Number.POSITIVE_INFINITY) - reserveMs;
        const beginBy = since + Math.max(limits.waitMs, Math.min(limits.startMs, leftMs));
        if (!waiting.push(tenant, { tenant, job: job as Job, since, beginBy, finish }))
          return resolve({ unfinished: 'queue' });
        next();
      }),
    close: () => pool.destroy(),
  };

  function next(): void {
    while (freeSlots.length > 0) {
      const item = waiting.shift((realmId) => running.of(realmId) < limits.perRealm);
      if (item === undefined) return;
      const lateAt = Math.min(Math.max(item.since, startingAt) + limits.waitMs, item.beginBy);
      if (performance.now() > lateAt) item.finish({ unfinished: 'wait' });
      else if (budget.allows(item.tenant)) void start(item, freeSlots.pop() ?? 0);
      else item.finish({ unfinished: 'budget' });
    }
  }

  async function start({ tenant, job, beginBy, finish }: Waiting, slot: number): Promise<void> {
    marks[2 * slot] = 0;
    running.add(tenant.realmId);
    const controller = new AbortController();
    const watch = watched(slot, beginBy, {
      giveUp: () => finish({ unfinished: 'cpu' }),
      end: (reason) => controller.abort(reason),
    });
    try {
      const done: Done = await pool.run({ job, begun: { marks, slot } }, { signal: controller.signal });
      budget.charge(tenant, done.cpuMs * helpersToo);
      finish(done.result === undefined ? { unfinished: 'output' } : { result: done.result });
    } catch {
      const unfinished = controller.signal.aborted ? (controller.signal.reason as RenderLimit) : 'failed';
      if (unfinished !== 'wait') budget.charge(tenant, (limits.endAfterCpuMs + restartMs) * helpersToo);
      finish({ unfinished });
    } finally {
      watch.stop();
      freeSlots.push(slot);
      running.add(tenant.realmId, -1);
      next();
    }
  }

  /** Limits a job by the CPU time of its thread, because a short job may take long on a busy machine. */
  function watched(
    slot: number,
    beginBy: number,
    { giveUp, end }: { giveUp: () => void; end: (reason: RenderLimit) => void },
  ): { stop: () => void } {
    let begunAt: number | undefined;
    let timer = setTimeout(look, limits.cpuMs);
    return { stop: () => clearTimeout(timer) };

    function look(): void {
      timer = setTimeout(look, watchEveryMs);
      const now = performance.now();
      const thread = pool.threads.find(({ threadId }) => threadId === marks[2 * slot]);
      if (thread === undefined) {
        startingAt = now;
        if (now > beginBy) end('wait');
        return;
      }
      // The start was not observed before this check, so it is at most this much earlier.
      begunAt ??= now - limits.cpuMs;
      if (now - begunAt > limits.wallMs) {
        end('wall');
        return;
      }
      const startMs = marks[2 * slot + 1] ?? 0;
      void thread.cpuUsage().then(
        ({ user, system }) => {
          if (marks[2 * slot] !== thread.threadId) return;
          const usedMs = (user + system) / 1000 - startMs;
          if (usedMs >= limits.cpuMs) giveUp();
          if (usedMs >= limits.endAfterCpuMs) end('cpu');
        },
        () => undefined,
      );
    }
  }
}
