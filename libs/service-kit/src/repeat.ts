interface Repeated {
  everyMs: number;
  /** Delay of the first run; by default that of the others. */
  firstMs?: number;
  onError: (error: unknown) => void;
}

/** Whether the process is stopping; long work ends early then. */
type IsStopped = () => boolean;

/**
 * Runs `work` repeatedly, with a random variation of the pauses, so that processes do not run it at the same time. Runs
 * never overlap. The returned function stops it after the current run.
 */
export function repeat(
  { everyMs, firstMs, onError }: Repeated,
  work: (isStopped: IsStopped) => Promise<void>,
): () => Promise<void> {
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const start = (ms: number): void => {
    timer = setTimeout(run, ms * (0.9 + Math.random() * 0.2));
    timer.unref();
  };
  function run(): void {
    running = work(() => isStopped)
      .catch(onError)
      .then(() => {
        if (!isStopped) start(everyMs);
      });
  }
  start(firstMs ?? everyMs);
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
}

/**
 * Runs `work` for one item after the other, such as for each realm. One that fails, however often it is tried, keeps no other
 * waiting; nor does one with much to do, whose work returns `more` and goes on after the others had their turn.
 */
export async function forEachApart<T>(
  items: readonly T[],
  { isStopped, onError }: { isStopped: IsStopped; onError: (error: unknown, item: T) => void },
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let round = items; round.length > 0; ) {
    const unfinished: T[] = [];
    for (const item of round) {
      if (isStopped()) return;
      try {
        if ((await work(item)) === 'more') unfinished.push(item);
      } catch (error) {
        onError(error, item);
      }
    }
    round = unfinished;
  }
}
