import { withCost } from '@natter/database';
import { whileRemembered } from './unreported-costs.ts';

let running = 0;
/**
 * CPU milliseconds that a piece of work would have received so far if it had run since the process started, at an equal
 * share.
 */
let share = 0;
let usedMs = cpuMs();
let lookedAt = 0;
/** Reading the counters costs some microseconds, and short requests need not be distinguished. */
const lookEveryMs = 10;

/**
 * Estimates what `work` costs, in milliseconds: an equal share of the CPU time that the process used, with all threads,
 * while `work` and others were in progress, plus the durations of its statements and what called services reported, except those below `leastMs`.
 */
export function measureCost<R>(work: (spentMs: () => number) => Promise<R>, leastMs = 0): Promise<R> {
  return withCost(async (elsewhereMs) => {
    advance();
    running++;
    const began = share;
    try {
      return await work(() => {
        advance();
        return share - began + elsewhereMs();
      });
    } finally {
      advance();
      running--;
    }
  }, leastMs);
}

/**
 * Runs work that is charged to nobody, for example the response to a poll. It counts as in progress, so that requests
 * beside it are not charged with its CPU time, except while `idle` waits.
 */
export async function withoutCharge<R>(work: (idle: Idle) => Promise<R>): Promise<R> {
  const count = (difference: 1 | -1): void => {
    advance();
    running += difference;
  };
  count(1);
  try {
    return await work(async (wait) => {
      count(-1);
      try {
        return await wait;
      } finally {
        count(1);
      }
    });
  } finally {
    count(-1);
  }
}

/** Statements for events take some milliseconds more while PostgreSQL is busy with other realms. Such delays do not count. */
const leastStatementMs = 50;

/** Runs work for events of the realm. */
export const chargedToRealm = <R>(realmId: number, work: () => Promise<R>): Promise<R> =>
  measureCost((spentMs) => whileRemembered(realmId, spentMs, work), leastStatementMs);

/** Waits for a promise. The work does not count as in progress meanwhile. */
export type Idle = <W>(wait: Promise<W>) => Promise<W>;

function advance(): void {
  const at = performance.now();
  if (at - lookedAt < lookEveryMs) return;
  lookedAt = at;
  const now = cpuMs();
  if (running > 0) share += (now - usedMs) / running;
  usedMs = now;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
