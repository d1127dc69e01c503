export interface PredecessorWaits {
  /** Call it after a transaction. `isWaiting`: events of the realm wait for a predecessor. */
  found(realmId: number, isWaiting: boolean): void;
  /** A predecessor in this process has handled events of the realm. */
  moved(realmId: number): void;
  stop(): void;
}

/** The first delay before the realm is tried again. */
const firstDelayMs = 5;

/**
 * While events of a realm wait for a predecessor, hints the realm with growing delays, since the predecessor may run in another
 * process.
 */
export function createPredecessorWaits(hint: (realmId: number) => void, longestDelayMs: number): PredecessorWaits {
  const waiting = new Map<number, { nextMs: number; timer?: NodeJS.Timeout }>();
  return {
    found(realmId, isWaiting) {
      const before = waiting.get(realmId);
      if (!isWaiting) {
        clearTimeout(before?.timer);
        waiting.delete(realmId);
      } else if (!before?.timer) {
        const ms = before?.nextMs ?? firstDelayMs;
        const timer = setTimeout(() => {
          waiting.set(realmId, { nextMs: Math.min(2 * ms, longestDelayMs) });
          hint(realmId);
        }, ms).unref();
        waiting.set(realmId, { nextMs: ms, timer });
      }
    },
    moved(realmId) {
      if (waiting.has(realmId)) hint(realmId);
    },
    stop() {
      for (const { timer } of waiting.values()) clearTimeout(timer);
    },
  };
}
