/**
 * How long a request waits for PostgreSQL in all. The time starts when PostgreSQL first fails the request, and is shared
 * by all its attempts: a connection that breaks late does not start it again.
 */
export interface Patience {
  /** Milliseconds; never below 0. The first call starts the time, at `since` if the failure began earlier. */
  remainingMs(since?: number): number;
  readonly hasStarted: boolean;
}

const patienceMs = 5_000;

export function createPatience(ms = patienceMs): Patience {
  let endsAt: number | undefined;
  return {
    remainingMs(since = performance.now()) {
      endsAt ??= since + ms;
      return Math.max(endsAt - performance.now(), 0);
    },
    get hasStarted() {
      return endsAt !== undefined;
    },
  };
}

/** The patience of work that several requests wait for: it ends with the first of theirs. */
export function sharedPatience(all: readonly Patience[]): Patience {
  if (all.length === 0) return createPatience();
  return {
    remainingMs: (since) => Math.min(...all.map((one) => one.remainingMs(since))),
    get hasStarted() {
      return all.some((one) => one.hasStarted);
    },
  };
}
