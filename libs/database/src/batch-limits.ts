/** Limits the number of events that a transaction of a consumer reads. */
export interface BatchLimits {
  of(realmId: number): number;
  /**
   * Call it after a transaction. `handled`: the number of events that it handled, if it ended before the last one that it had
   * read; otherwise undefined.
   */
  ended(realmId: number, handled: number | undefined): void;
}

/**
 * If a transaction ends early, its other events are read again. So the next one reads at most twice as many events as this one
 * handled. The limit doubles with each transaction that handles all events that it read.
 */
export function createBatchLimits(batchSize: number): BatchLimits {
  const limits = new Map<number, number>();
  const of = (realmId: number): number => limits.get(realmId) ?? batchSize;
  return {
    of,
    ended(realmId, handled) {
      const next = handled === undefined ? 2 * of(realmId) : Math.max(1, 2 * handled);
      if (next >= batchSize) limits.delete(realmId);
      else limits.set(realmId, next);
    },
  };
}
