import type { ServerResponse } from 'node:http';

/**
 * A stopping gateway ends polls that wait during this time, not all at once, because their clients connect to the other
 * gateways.
 */
export const drainMs = 300;

/** Pauses of requests before they are served. */
export interface Pauses {
  /** Resolves after `ms`, when the response is closed, or soon after this process begins to stop. */
  pause(response: ServerResponse, ms: number): Promise<void>;
  stop(): void;
}

export function createPauses(): Pauses {
  const ends = new Set<() => void>();
  let isStopping = false;
  return {
    pause: (response, ms) =>
      new Promise((resolve) => {
        if (response.closed || isStopping) return resolve();
        const end = (): void => {
          clearTimeout(timer);
          response.off('close', end);
          ends.delete(end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        response.on('close', end);
        ends.add(end);
      }),
    stop() {
      isStopping = true;
      for (const end of ends) setTimeout(end, Math.random() * drainMs);
    },
  };
}
