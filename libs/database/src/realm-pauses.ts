export interface RealmPauses {
  /** Begins a pause of the realm, if its transaction took long. `isAwaited`: a request waits already. */
  begin(realmId: number, tookMs: number, isAwaited: boolean): void;
  /**
   * Whether the realm pauses. If so, it is hinted at the end of the pause. `isAwaited`: a request waits for the effect of its
   * events; this shortens the pause.
   */
  holds(realmId: number, isAwaited?: boolean): boolean;
  stop(): void;
}

interface Pause {
  timer: NodeJS.Timeout;
  /** When the pause ends if a request waits. */
  awaitedEnd: number;
  isHinted: boolean;
  isAwaited: boolean;
}

/** No pause follows a shorter transaction. */
const leastMs = 50;
const longestMs = 1_000;
/** A pause as a multiple of the duration of the transaction; if a request waits, it is as long as the transaction. */
const factor = 2;

/** The pauses of realms whose events took long, in which other realms have their turns. `hint`: called at the end of a pause. */
export function createRealmPauses(hint: (realmId: number, isAwaited: boolean) => void): RealmPauses {
  const pauses = new Map<number, Pause>();

  function endLater(realmId: number, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const pause = pauses.get(realmId);
      pauses.delete(realmId);
      if (pause?.isHinted) hint(realmId, pause.isAwaited);
    }, ms).unref();
  }

  return {
    begin(realmId, tookMs, isAwaited) {
      if (tookMs < leastMs) return;
      clearTimeout(pauses.get(realmId)?.timer);
      pauses.set(realmId, {
        timer: endLater(realmId, Math.min((isAwaited ? 1 : factor) * tookMs, longestMs)),
        awaitedEnd: performance.now() + Math.min(tookMs, longestMs),
        isHinted: isAwaited,
        isAwaited,
      });
    },
    holds(realmId, isAwaited = false) {
      const pause = pauses.get(realmId);
      if (!pause) return false;
      pause.isHinted = true;
      if (isAwaited && !pause.isAwaited) {
        pause.isAwaited = true;
        clearTimeout(pause.timer);
        pause.timer = endLater(realmId, Math.max(0, pause.awaitedEnd - performance.now()));
      }
      return true;
    },
    stop() {
      for (const { timer } of pauses.values()) clearTimeout(timer);
    },
  };
}
