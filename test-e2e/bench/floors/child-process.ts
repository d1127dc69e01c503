import { type ChildProcess, fork } from 'node:child_process';

/** A process of a floor: configured by one JSON argument, prints `ready` when it serves, answers messages in order. */
export interface FloorProcess {
  pid: number;
  ask<R>(message: object): Promise<R>;
  stop(): Promise<void>;
}

export type FloorProgram = 'http' | 'writer' | 'work';

/** `fd`: of a socket that the process inherits, as its descriptor 4. */
export async function startFloorProcess(program: FloorProgram, options: object, fd?: number): Promise<FloorProcess> {
  const child: ChildProcess = fork(new URL(`./${program}-process.ts`, import.meta.url), [JSON.stringify(options)], {
    serialization: 'advanced',
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...(fd === undefined ? [] : [fd])],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const nextMessage = (): Promise<unknown> =>
    Promise.race([
      new Promise((resolve) => child.once('message', resolve)),
      exited.then(() => Promise.reject(new Error(`the floor process ${program} ended`))),
    ]);
  await nextMessage();
  return {
    pid: child.pid ?? 0,
    ask: async <R>(message: object): Promise<R> => {
      const answered = nextMessage();
      child.send(message);
      const answer = (await answered) as { error?: string };
      if (answer.error !== undefined) throw new Error(answer.error);
      return answer as R;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
