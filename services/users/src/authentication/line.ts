import { unavailable } from '@natter/contracts';

/** Runs `most` tasks at once. Others wait in line; where the line is full, a task is refused with SERVICE_UNAVAILABLE. */
export function createLine(most: number, longest: number): <R>(task: () => Promise<R>) => Promise<R> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running < most) running++;
    else {
      if (waiting.length >= longest) throw unavailable();
      // The place is handed over, so that nobody who comes meanwhile takes it.
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
