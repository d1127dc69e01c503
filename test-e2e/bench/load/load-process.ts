import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FromWorker, Job, LoadResult, Progress, ToWorker } from './job.ts';

export interface FollowJob {
  progress(): Promise<Progress>;
  /** All deliveries so far. */
  results(): Promise<LoadResult>;
  /** Resolves when the condition holds; throws after the time-out. */
  until(holds: (progress: Progress) => boolean, what: string, withinMs?: number): Promise<void>;
  stop(): Promise<LoadResult>;
}

/** The load generator, in a separate process. */
export interface LoadProcess {
  pid: number;
  run(job: Exclude<Job, { kind: 'follow' }>): Promise<LoadResult>;
  follow(job: Omit<Extract<Job, { kind: 'follow' }>, 'kind'>): FollowJob;
  /** Stops jobs that a failed scenario left running. */
  clear(): Promise<void>;
  stop(): void;
}

export function startLoadProcess(): LoadProcess {
  const child: ChildProcess = fork(new URL('./worker.ts', import.meta.url), {
    serialization: 'advanced',
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  const waiting = new Map<number, { resolve: (message: never) => void; reject: (error: Error) => void }>();
  const following = new Set<number>();
  let last = 0;
  child.on('message', (message: FromWorker) => {
    const one = waiting.get(message.id);
    waiting.delete(message.id);
    if ('error' in message) one?.reject(new Error(message.error));
    else one?.resolve(('result' in message ? message.result : message.progress) as never);
  });
  child.once('exit', () => {
    for (const one of waiting.values()) one.reject(new Error('the load process ended'));
  });
  const ask = <R>(message: ToWorker): Promise<R> =>
    new Promise((resolve, reject) => {
      waiting.set(message.id, { resolve: resolve as (message: never) => void, reject });
      child.send(message);
    });
  return {
    pid: child.pid ?? 0,
    run: (job) => ask<LoadResult>({ id: ++last, job }),
    follow: (job) => {
      const id = ++last;
      following.add(id);
      child.send({ id, job: { kind: 'follow', ...job } } satisfies ToWorker);
      const progress = (): Promise<Progress> => ask<Progress>({ id, ask: 'progress' });
      return {
        progress,
        results: () => ask<LoadResult>({ id, ask: 'results' }),
        until: async (holds, what, withinMs = 60_000) => {
          for (const end = Date.now() + withinMs; ; await sleep(20)) {
            const seen = await progress();
            if (holds(seen)) return;
            if (Date.now() > end) throw new Error(`${what}: not within ${withinMs} ms, ${JSON.stringify(seen)}`);
          }
        },
        stop: () => {
          following.delete(id);
          return ask<LoadResult>({ id, stop: true });
        },
      };
    },
    async clear() {
      const left = [...following];
      following.clear();
      await Promise.all(left.map((id) => ask<LoadResult>({ id, stop: true })));
    },
    stop: () => void child.kill('SIGKILL'),
  };
}
