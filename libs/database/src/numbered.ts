import type { Query } from './database.ts';

/**
 * Writes rows that contain log numbers, given as a JSON list; each row has `from_end`, its distance from the unit's
 * last number.
 */
export type InsertNumbered = (realmId: number, rows: string) => Query;

/** A single statement, or a row of a kind for which one statement writes the whole batch. */
export type Numbered = Query | { into: InsertNumbered; row: { from_end: number } & Record<string, unknown> };

/** Merges all rows of a kind into one statement, at the position of the first. */
export function numberedQueries(realmId: number, all: readonly Numbered[]): Query[] {
  const kinds = new Map<InsertNumbered, unknown[]>();
  const parts: (Query | InsertNumbered)[] = [];
  for (const one of all) {
    if (!('into' in one)) {
      parts.push(one);
      continue;
    }
    const rows = kinds.get(one.into);
    if (rows) rows.push(one.row);
    else {
      kinds.set(one.into, [one.row]);
      parts.push(one.into);
    }
  }
  return parts.map((part) => (typeof part === 'function' ? part(realmId, JSON.stringify(kinds.get(part))) : part));
}
