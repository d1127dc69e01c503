import { ChatError, isRefusal } from '@natter/contracts';
import { isConnectionFailure, isMissingPartition, sqlState } from './sql-state.ts';

/**
 * SQLSTATE classes caused by a statement's values: cardinality, data, integrity, row limits, and exceptions raised in
 * SQL.
 */
const classesOfData = new Set(['21', '22', '23', '54', 'P0']);

/**
 * Whether handling an event failed because of the event. All other failures are retried for as long as they last:
 * locks, a full disk, a read-only server, cancelled statements, connections, also temporarily missing tables or
 * privileges.
 */
export function isCausedByEvent(error: unknown): boolean {
  if (error instanceof ChatError) return isRefusal(error);
  if (isConnectionFailure(error) || isMissingPartition(error)) return false;
  if (error instanceof Error && error.name === 'VersionsChanged') return false;
  const code = sqlState(error);
  // Without an SQLSTATE it is an error of the handler itself.
  return code === undefined || code.length !== 5 || classesOfData.has(code.slice(0, 2));
}

interface Failing {
  /** The number of the event that failed; 0 if the failure happened before the first event. */
  number: number;
  /** How many times in a row this event caused the failure. */
  count: number;
  since: number;
  waitMs: number;
  retryAt: number;
  /** How many times in a row nothing could be claimed. */
  unclaimed: number;
}

export interface FailingRealms {
  has(realmId: number): boolean;
  mayTry(realmId: number): boolean;
  /** Counts a failure. `park`: the event has caused it too often. `waitMs`: delay before the next attempt. */
  failed(realmId: number, number: number, error: unknown): { count: number; waitMs: number; park: boolean };
  /**
   * Call it when this process could claim nothing of the realm: another process handles it, or it was deleted. After several
   * such calls in a row, the realm no longer counts as failing here. Returns the delay before the next attempt, or undefined
   * if the realm is not failing.
   */
  unclaimed(realmId: number): number | undefined;
  /** The realm's events up to this number are handled. */
  passed(realmId: number, number: number): void;
  /** The longest time for which a realm has been failing, in seconds. */
  longestSeconds(): number;
}

const maxCount = 3;
const maxUnclaimed = 5;
const firstWaitMs = 250;
const longestWaitMs = 3_000;

/** Tracks the realms in which a consumer fails, since when, and when it tries again. */
export function createFailingRealms(): FailingRealms {
  const realms = new Map<number, Failing>();
  return {
    has: (realmId) => realms.has(realmId),
    mayTry: (realmId) => performance.now() >= (realms.get(realmId)?.retryAt ?? 0),
    failed(realmId, number, error) {
      const now = performance.now();
      const before = realms.get(realmId);
      const isCounted = number > 0 && isCausedByEvent(error);
      const count = isCounted ? (before?.number === number ? before.count : 0) + 1 : 0;
      const waitMs = Math.min(before ? before.waitMs * 2 : firstWaitMs, longestWaitMs);
      const jittered = waitMs * (0.75 + Math.random() / 2);
      realms.set(realmId, {
        number,
        count,
        since: before?.since ?? now,
        waitMs,
        retryAt: now + jittered,
        unclaimed: 0,
      });
      return { count, waitMs: jittered, park: count >= maxCount };
    },
    unclaimed(realmId) {
      const failing = realms.get(realmId);
      if (!failing) return undefined;
      failing.unclaimed++;
      if (failing.unclaimed < maxUnclaimed) return longestWaitMs;
      realms.delete(realmId);
      return undefined;
    },
    passed(realmId, number) {
      const failing = realms.get(realmId);
      if (failing && number >= failing.number) realms.delete(realmId);
    },
    longestSeconds() {
      const oldest = Math.min(...[...realms.values()].map(({ since }) => since));
      return Number.isFinite(oldest) ? (performance.now() - oldest) / 1_000 : 0;
    },
  };
}
