import { FairQueue, type Owner } from '@natter/database';
import { Piscina } from 'piscina';
import type { RenderBudget } from './budget.ts';
import type { Job, Jobs } from './jobs.ts';
import type { Done } from './render-worker.ts';

/** Why a job has no result. */
export type RenderLimit = 'budget' | 'queue' | 'wait' | 'cpu' | 'wall' | 'output' | 'failed';
export type Outcome<R> = { result: R } | { unfinished: RenderLimit };

export interface WorkerPool {
  run<N extends keyof Jobs>(owner: Owner, job: Job<N>): Promise<Outcome<Jobs[N]['result']>>;
  close(): Promise<void>;
}

export interface Limits {
  /** Jobs that run at once; one more thread is kept ready to replace one that had to be ended. */
  threads: number;
  cpuMs: number;
  /** A thread that gets no CPU, or cannot say how much it got, is ended after this. */
  wallMs: number;
  /** Until a thread begins, which may have to be started first: the request that waits for the job has a deadline. */
  waitMs: number;
  maxWaiting: number;
}

interface Waiting {
  owner: Owner;
  job: Job;
  since: number;
  finish: (outcome: Outcome<Jobs[keyof Jobs]['result']>) => void;
}

const memory = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };
const watchEveryMs = 20;
/** CPU time that the start of another thread takes, charged to whoever caused it. */
const restartMs = 400;

/** Runs jobs in threads that are ended when a job exceeds its limit. */
export function createWorkerPool(budget: RenderBudget, limits: Limits): WorkerPool {
  const pool = new Piscina({
    filename: new URL(import.meta.url.endsWith('.ts') ? './render-worker.ts' : './render-worker.mjs', import.meta.url)
      .href,
    minThreads: limits.threads + 1,
    maxThreads: limits.threads + 1,
    atomics: 'async',
    resourceLimits: memory,
  });
  // A thread that could not start is started again; whoever waited for it is told by their own job.
  pool.on('error', () => undefined);
  const waiting = new FairQueue<Waiting>(limits.maxWaiting);
  const freeSlots = Array.from({ length: limits.threads }, (_, slot) => slot);
  const marks = new Float64Array(new SharedArrayBuffer(2 * limits.threads * Float64Array.BYTES_PER_ELEMENT));

  return {
    run: <N extends keyof Jobs>(owner: Owner, job: Job<N>) =>
      new Promise<Outcome<Jobs[N]['result']>>((resolve) => {
        if (!budget.allows(owner)) return resolve({ unfinished: 'budget' });
        const finish = resolve as Waiting['finish'];
        if (!waiting.push(owner, { owner, job: job as Job, since: performance.now(), finish }))
          return resolve({ unfinished: 'queue' });
        next();
      }),
    close: () => pool.destroy(),
  };

  function next(): void {
    while (freeSlots.length > 0) {
      const item = waiting.shift();
      if (item === undefined) return;
      if (performance.now() - item.since > limits.waitMs) item.finish({ unfinished: 'wait' });
      else if (budget.allows(item.owner)) void start(item, freeSlots.pop() ?? 0);
      else item.finish({ unfinished: 'budget' });
    }
  }

  async function start({ owner, job, since, finish }: Waiting, slot: number): Promise<void> {
    marks[2 * slot] = 0;
    const controller = new AbortController();
    const watch = watched(slot, since, (reason) => controller.abort(reason));
    try {
      const done: Done = await pool.run({ job, begun: { marks, slot } }, { signal: controller.signal });
      budget.charge(owner, done.cpuMs);
      finish(done.result === undefined ? { unfinished: 'output' } : { result: done.result });
    } catch {
      const unfinished = controller.signal.aborted ? (controller.signal.reason as RenderLimit) : 'failed';
      if (unfinished !== 'wait') budget.charge(owner, limits.cpuMs + restartMs);
      finish({ unfinished });
    } finally {
      watch.stop();
      freeSlots.push(slot);
      next();
    }
  }

  /** Ends a job by the CPU time of its thread: on a busy machine a short job may take long. */
  function watched(slot: number, since: number, end: (reason: RenderLimit) => void): { stop: () => void } {
    let begunAt: number | undefined;
    let timer = setTimeout(look, limits.cpuMs);
    return { stop: () => clearTimeout(timer) };

    function look(): void {
      timer = setTimeout(look, watchEveryMs);
      const now = performance.now();
      const thread = pool.threads.find(({ threadId }) => threadId === marks[2 * slot]);
      if (thread === undefined) {
        if (now - since > limits.waitMs) end('wait');
        return;
      }
      // Not seen before the first look, so at most that much earlier.
      begunAt ??= now - limits.cpuMs;
      if (now - begunAt > limits.wallMs) {
        end('wall');
        return;
      }
      const startMs = marks[2 * slot + 1] ?? 0;
      void thread.cpuUsage().then(
        ({ user, system }) => {
          if ((user + system) / 1000 - startMs >= limits.cpuMs && marks[2 * slot] === thread.threadId) end('cpu');
        },
        () => undefined,
      );
    }
  }
}
