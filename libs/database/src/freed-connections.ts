import { pause } from './deadline.ts';

/** Work that could not open a connection, and waits until other work gives one back. */
export interface FreedConnections {
  /**
   * Resolves when a connection was given back, but at the latest after `ms`. Rejects with SERVICE_UNAVAILABLE at the deadline.
   */
  wait(ms: number): Promise<void>;
  /** A connection was given back. Wakes only the work that has waited longest: if all tried, all but one would log in. */
  wakeNext(): void;
}

export function createFreedConnections(): FreedConnections {
  const waiting = new Set<() => void>();
  return {
    wait: (ms) =>
      new Promise((resolve, reject) => {
        const wake = (): void => {
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
        pause(ms).then(wake, (error: unknown) => {
          waiting.delete(wake);
          reject(error);
        });
      }),
    wakeNext() {
      const [first] = waiting;
      first?.();
    },
  };
}
