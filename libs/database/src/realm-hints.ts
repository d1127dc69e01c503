export interface RealmHints {
  /** New events may exist in this realm; `isAwaited`: a request waits for their effect. */
  hint(realmId: number, isAwaited?: boolean): void;
  /** Returns the hinted realms, and begins a new set. */
  take(): Set<number>;
  /** Whether a request waits for the effect of events of a hinted realm. */
  isAwaited(realmId: number): boolean;
  /** Whether another realm is hinted. */
  hasOther(realmId: number): boolean;
  /** Waits for hints, or for the next poll. `restMs`: gathers for at least this long, unless a request waits. */
  wait(restMs?: number): Promise<void>;
  /** Waits after a failure; ends early when the consumer stops. */
  waitAfterFailure(ms: number): Promise<void>;
  stop(): void;
  readonly isStopped: boolean;
}

/** Gathers hints for `gatherMs`, so that many hints cause one query. A hint for which a request waits ends the wait at once. */
export function createRealmHints(gatherMs: number, pollMs: number): RealmHints {
  const hinted = new Set<number>();
  const awaited = new Set<number>();
  let wake: (isNow: boolean) => void = () => undefined;
  let isAwaitedNow = false;
  let isStopped = false;

  async function wait(restMs = 0): Promise<void> {
    const longerMs = Math.min(Math.max(gatherMs, restMs), pollMs);
    await new Promise<void>((resolve) => {
      const usual = hinted.size > 0 ? longerMs : pollMs * (0.8 + Math.random() * 0.4);
      let timer = setTimeout(resolve, isAwaitedNow ? 0 : usual);
      let isGathering = hinted.size > 0;
      wake = (isNow) => {
        if (isGathering && !isNow) return;
        isGathering = true;
        clearTimeout(timer);
        timer = setTimeout(resolve, isNow ? 0 : longerMs);
      };
    });
    wake = () => undefined;
  }

  return {
    hint: (realmId, isAwaited = false) => {
      if (isAwaited) awaited.add(realmId);
      if (isAwaited && !isAwaitedNow) {
        isAwaitedNow = true;
        hinted.add(realmId);
        wake(true);
        return;
      }
      if (hinted.has(realmId)) return;
      hinted.add(realmId);
      wake(false);
    },
    take: () => {
      const realms = new Set(hinted);
      hinted.clear();
      awaited.clear();
      isAwaitedNow = false;
      return realms;
    },
    isAwaited: (realmId) => awaited.has(realmId),
    hasOther: (realmId) => hinted.size > (hinted.has(realmId) ? 1 : 0),
    wait,
    waitAfterFailure: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          if (!isStopped) return;
          clearTimeout(timer);
          resolve();
        };
      }),
    stop: () => {
      isStopped = true;
      wake(true);
    },
    get isStopped() {
      return isStopped;
    },
  };
}
