/**
 * How long a request waits in all while PostgreSQL is unavailable. The time starts with the first failure of the request, and
 * all attempts share it: a connection that breaks later does not start it again.
 */
export interface Patience {
  /** Milliseconds; never below 0. The first call starts the time, at `since` if the failure began earlier. */
  remainingMs(since?: number): number;
  readonly hasStarted: boolean;
}

const patienceMs = 5_000;

class OwnPatience implements Patience {
  readonly #ms: number;
  #endsAt: number | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  remainingMs(since = performance.now()): number {
    this.#endsAt ??= since + this.#ms;
    return Math.max(this.#endsAt - performance.now(), 0);
  }

  get hasStarted(): boolean {
    return this.#endsAt !== undefined;
  }
}

export const createPatience = (ms = patienceMs): Patience => new OwnPatience(ms);

/** The patience of work for which several requests wait. It ends when that of one of the requests ends. */
export function sharedPatience(all: readonly Patience[]): Patience {
  if (all.length === 0) return createPatience();
  return {
    remainingMs: (since) => Math.min(...all.map((one) => one.remainingMs(since))),
    get hasStarted() {
      return all.some((one) => one.hasStarted);
    },
  };
}
