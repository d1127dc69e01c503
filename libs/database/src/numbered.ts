import type { Query } from './database.ts';

/** Writes rows that carry numbers of the log, given as a JSON list; each has `from_end`, its distance from the unit's last number. */
export type InsertNumbered = (realmId: number, rows: string) => Query;

/** A statement of its own, or a row of a kind of which a whole batch is written by one. */
export type Numbered = Query | { into: InsertNumbered; row: { from_end: number } & Record<string, unknown> };

/** One statement for all rows of a kind, where the first of them stood. */
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
