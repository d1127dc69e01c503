import { createHash } from 'node:crypto';
import { sqlState } from './sql-state.ts';

/** Planning costs a small statement more than running it: what comes again is planned once per connection. */
const timesBefore = 3;
/** A plan takes some 20 KB of Postgres's memory on every connection. */
const maxPrepared = 200;
const maxKnown = 5_000;

const known = new Map<string, { times: number; name?: string }>();
let prepared = 0;
let isGivenUp = false;

/** As `plannedEachTime` says. */
const plannedEachTimeMark = '/* planned each time */';

/** The name under which a statement is prepared, once it has come often enough. */
export function preparedName(text: string): string | undefined {
  if (isGivenUp) return undefined;
  const before = known.get(text);
  if (before?.name !== undefined) return before.name;
  const times = (before?.times ?? 0) + 1;
  if (known.size >= maxKnown) for (const [other, { name }] of known) if (name === undefined) known.delete(other);
  const isWorthIt = times > timesBefore && prepared < maxPrepared && !text.includes(plannedEachTimeMark);
  if (isWorthIt) prepared++;
  const name = isWorthIt ? { name: `natter_${createHash('sha1').update(text).digest('hex').slice(0, 24)}` } : {};
  known.set(text, { times, ...name });
  return name.name;
}

/**
 * A pooler that gives each transaction another connection (PgBouncer before 1.21) does not know what was prepared, and a migration
 * can change what a statement gives. Then nothing is prepared any more, and what failed is done once more.
 */
export function isUnprepared(error: unknown): boolean {
  const state = sqlState(error);
  const is = state === '26000' || state === '42P05' || (state === '0A000' && /cached plan/.test(String(error)));
  if (is) isGivenUp = true;
  return is;
}

/**
 * A deadlock, a lock that was not had in time, a row that was deleted after it was read and before another row referred to it, or a
 * statement that is not prepared: a transaction that failed by it is run once more, and sees what is there by then.
 */
export const isTransient = (error: unknown): boolean =>
  ['40P01', '40001', '55P03', '23503'].includes(sqlState(error) ?? '') || isUnprepared(error);
