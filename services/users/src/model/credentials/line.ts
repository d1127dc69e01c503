import { unavailable } from '@natter/contracts';

/**
 * Runs at most `most` tasks at once. Others queue; if the queue is full, a task is refused with SERVICE_UNAVAILABLE.
 */
export function createLine(most: number, longest: number): <R>(task: () => Promise<R>) => Promise<R> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running < most) running++;
    else {
      if (waiting.length >= longest) throw unavailable();
      // The slot is handed over, so that no later task takes it.
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
