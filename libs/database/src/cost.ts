import { AsyncLocalStorage } from 'node:async_hooks';

const scopes = new AsyncLocalStorage<{ ms: number; leastMs?: number }>();

/**
 * Runs work, and collects what it costs elsewhere: in PostgreSQL and in other processes. Statements and calls that cost less than
 * `leastMs` do not count.
 */
export async function withCost<R>(work: (elsewhereMs: () => number) => Promise<R>, leastMs = 0): Promise<R> {
  const scope = { ms: 0, leastMs };
  return await scopes.run(scope, () => work(() => scope.ms));
}

/** Runs work that only waits, for example for a lock: its statements cost nothing. */
export const withoutCost = <R>(work: () => R): R => scopes.run({ ms: 0 }, work);

/** Adds milliseconds to the cost of the running work. */
export function addCost(ms: number): void {
  const scope = scopes.getStore();
  if (scope && ms >= (scope.leastMs ?? 0)) scope.ms += ms;
}

/** Returns a function that adds to the cost of the work that is running now. Other code may call it later. */
export function captureCost(): (ms: number) => void {
  const scope = scopes.getStore();
  return (ms) => {
    if (scope) scope.ms += ms;
  };
}

/**
 * Milliseconds that a statement may take without a cost. Other work delays any statement by some milliseconds, which
 * must not count against the user who waits.
 */
const freeStatementMs = 5;
/** A statement that may wait for a row lock costs no more than this. */
const maxStatementMs = 200;
/** Maximum cost of other statements, which take long only if PostgreSQL is busy or unavailable. */
const maxLocklessMs = 5_000;

/** PostgreSQL does not report the CPU time of a statement, so its duration counts. */
export const costOfStatement = (durationMs: number, maxMs = maxStatementMs): number =>
  Math.max(0, Math.min(durationMs, maxMs) - freeStatementMs);

/** A read outside of transactions waits for no lock. */
export const costOfRead = (durationMs: number): number => costOfStatement(durationMs, maxLocklessMs);

/** A commit may have waited for the clock of its realm, but not for the time during which it held the clock. */
export const costOfCommit = (durationMs: number, heldMs: number): number =>
  Math.max(costOfStatement(durationMs), costOfStatement(Math.min(durationMs, heldMs), maxLocklessMs));

/** Whether a statement reads, and locks no rows. */
export const isRead = (text: string): boolean =>
  /^\s*(?:SELECT|WITH)\b/.test(text) && !/\b(?:INSERT|UPDATE|DELETE|SHARE)\b|_lock\b/.test(text);
