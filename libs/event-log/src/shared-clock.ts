/** Clocks of machines may run this much faster or slower than another. */
const driftRatio = 1e-4;
/** The wall clock is read in whole milliseconds. */
const wallStepMs = 1;

/** A clock that several processes share: they read it from a server, and measure the time since without a wall clock. */
export interface SharedClock {
  /** Milliseconds. The clock of this machine until the server has answered once. */
  now(): number;
  /** Reads the clock of the server. An earlier reading that is more exact, and agrees with the new one, stays. */
  read(): Promise<void>;
  /** The server may be another one now: the next reading counts, however slow. */
  forget(): void;
}

interface Reading {
  /** Milliseconds of the server at a moment of `performance.now()`. */
  time: number;
  at: number;
  errorMs: number;
}

/**
 * `readServer` returns milliseconds. A slow answer says little about the moment at which it was made, so the clock of this
 * machine counts if it agrees with the answer: processes of one machine then have the same time.
 */
export function createSharedClock(
  readServer: () => Promise<number | undefined>,
  elapsed: () => number = () => performance.now(),
  wallClock: () => number = Date.now,
): SharedClock {
  let best: Reading | undefined;
  const errorNow = (): number => (best ? best.errorMs + (elapsed() - best.at) * driftRatio : Number.POSITIVE_INFINITY);
  return {
    now: () => Math.floor(best ? best.time + elapsed() - best.at : wallClock()),
    async read() {
      const askedAt = elapsed();
      const answered = await readServer();
      const at = elapsed();
      const errorMs = (at - askedAt) / 2;
      if (answered === undefined) return;
      const [time, wall] = [answered + errorMs, wallClock()];
      // A difference above both errors shows that a clock was set, or that this machine was paused.
      const isSame =
        best !== undefined && Math.abs(best.time + at - best.at - time) <= errorMs + errorNow() + wallStepMs;
      if (isSame && errorMs > errorNow()) return;
      best = { time: Math.abs(wall - time) <= errorMs + wallStepMs ? wall : time, at, errorMs };
    },
    forget() {
      if (best) best = { ...best, errorMs: Number.POSITIVE_INFINITY };
    },
  };
}
