import { createHash } from 'node:crypto';
import { sqlState } from './sql-state.ts';

/** Planning a small statement costs more than running it, so repeated statements are planned once per connection. */
const timesBefore = 3;
/** A plan takes about 20 KB of Postgres's memory per connection. */
const maxPrepared = 200;
const maxKnown = 5_000;

const known = new Map<string, { times: number; name?: string }>();
let prepared = 0;
let isGivenUp = false;
/** Part of all names: when it changes, all statements are prepared anew. */
let generation = 0;
let renewedAt = Number.NEGATIVE_INFINITY;
/** Minimum time between two changes of `generation`: statements that were sent before the last one may still fail. */
const renewEveryMs = 1_000;

/** The comment that `plannedEachTime` adds to a statement; both texts must be equal. */
const plannedEachTimeMark = '/* planned each time */';

/** The name under which a statement is prepared, once it was used often enough. */
export function preparedName(text: string): string | undefined {
  if (isGivenUp) return undefined;
  const before = known.get(text);
  if (before?.name !== undefined) return nameNow(before.name);
  const times = (before?.times ?? 0) + 1;
  if (known.size >= maxKnown) for (const [other, { name }] of known) if (name === undefined) known.delete(other);
  const isWorthIt = times > timesBefore && prepared < maxPrepared && !text.includes(plannedEachTimeMark);
  if (isWorthIt) prepared++;
  const name = isWorthIt ? { name: `natter_${createHash('sha1').update(text).digest('hex').slice(0, 24)}` } : {};
  known.set(text, { times, ...name });
  return name.name && nameNow(name.name);
}

const nameNow = (name: string): string => (generation === 0 ? name : `${name}_${generation}`);

/**
 * Whether an error is caused by a prepared statement. Then the failed work is repeated. If a pooler gives each transaction
 * another connection (PgBouncer before 1.21), Postgres does not know prepared statements, and this process prepares no more. If
 * a migration changed the result type of a prepared statement, all are prepared again under other names.
 */
export function isUnprepared(error: unknown): boolean {
  const state = sqlState(error);
  if (state === '0A000' && hasStalePlan(error)) {
    if (performance.now() - renewedAt > renewEveryMs) {
      generation++;
      renewedAt = performance.now();
    }
    return true;
  }
  const isUnknown = state === '26000' || state === '42P05';
  if (isUnknown) isGivenUp = true;
  return isUnknown;
}

/** Recognizes the error by its place in the source of PostgreSQL, because its text is in the language of the server. */
const hasStalePlan = (error: unknown): boolean =>
  /cached plan/.test(String(error)) || (error as { routine?: unknown }).routine === 'RevalidateCachedQuery';

/**
 * Whether a transaction can succeed if it is repeated with the new state. This is so after a deadlock, a lock time-out, an
 * unknown prepared statement, or a commit that PostgreSQL refused as too late before its deadline. It is also so if a row was
 * deleted after it was read and before another row referred to it.
 */
export const isTransient = (error: unknown): boolean =>
  ['40P01', '40001', '55P03', '23503', 'NT408'].includes(sqlState(error) ?? '') || isUnprepared(error);
