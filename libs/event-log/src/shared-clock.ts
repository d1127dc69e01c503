/** Clocks of machines may run this much faster or slower than another. */
const driftRatio = 1e-4;

/** A clock that several processes share: they read it from a server, and measure the time since without a wall clock. */
export interface SharedClock {
  /** Milliseconds. The clock of this machine until the server has answered once. */
  now(): number;
  /** Reads the clock of the server, unless an earlier reading is more exact. */
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

/** `readServer` returns milliseconds. A slow answer says little about the moment at which it was made. */
export function createSharedClock(
  readServer: () => Promise<number | undefined>,
  elapsed: () => number = () => performance.now(),
): SharedClock {
  let best: Reading | undefined;
  const errorNow = (): number => (best ? best.errorMs + (elapsed() - best.at) * driftRatio : Number.POSITIVE_INFINITY);
  return {
    now: () => Math.floor(best ? best.time + elapsed() - best.at : Date.now()),
    async read() {
      const askedAt = elapsed();
      const time = await readServer();
      const errorMs = (elapsed() - askedAt) / 2;
      if (time !== undefined && errorMs <= errorNow()) best = { time, at: askedAt + errorMs, errorMs };
    },
    forget() {
      if (best) best = { ...best, errorMs: Number.POSITIVE_INFINITY };
    },
  };
}
