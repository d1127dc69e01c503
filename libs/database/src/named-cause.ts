import { KeyTaken, numberedAnswer } from './claim.ts';
import type { Waiting } from './decided-writes.ts';
import type { NamedRow } from './named-row.ts';
import { isRow } from './numbered.ts';
import { VersionsChanged } from './unit-of-work.ts';

const rowOf = (error: unknown): NamedRow | undefined =>
  error instanceof KeyTaken || error instanceof VersionsChanged ? error.row : undefined;

/** The realm that made a transaction of several realms fail, if its error names one. */
export const realmNamedBy = (error: unknown): number | undefined => rowOf(error)?.realm_id;

/**
 * Refuses the writes of a realm that the error of its transaction names as the cause: by a row that they contain, or by an
 * expected version. Returns the others.
 */
export function refuseNamed(batch: readonly Waiting[], error: unknown): Waiting[] {
  return batch.filter((item) => {
    if (!isNamed(item, error)) return true;
    item.reject(error);
    return false;
  });
}

function isNamed(item: Waiting, error: unknown): boolean {
  const row = rowOf(error);
  if (row) return containsRow(item, row);
  return error instanceof VersionsChanged && error.of === 'version' && item.expected[error.key] !== undefined;
}

function containsRow({ numbered, claim, answer }: Waiting, { realm_id: _, ...columns }: NamedRow): boolean {
  const rows: object[] = numbered(0).flatMap((one) => (isRow(one) ? [one.row] : []));
  if (claim) rows.push(numberedAnswer(claim, 0, answer.named, answer.rest));
  const named = Object.entries(columns);
  return rows.some((row) => named.every(([name, value]) => (row as Record<string, unknown>)[name] === value));
}
