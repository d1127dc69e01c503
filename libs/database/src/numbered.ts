import { type Fragment, type Query, sql } from './database.ts';

/**
 * A table of the rows to write, with the given columns and two more: `realm_id`, and `number`, which the log assigned.
 */
type NumberedRows = (columns: Fragment) => Fragment;

/** Writes rows that contain log numbers. */
export type InsertNumbered = (rows: NumberedRows) => Query;

/**
 * A row of a kind for which one statement writes the whole batch. `from_end`: its distance from the last number of its
 * realm in the transaction.
 */
export interface NumberedRow {
  into: InsertNumbered;
  row: { from_end: number } & Record<string, unknown>;
}

/** A single statement, or a row. */
export type Numbered = Query | NumberedRow;

export const isRow = (one: Numbered): one is NumberedRow => 'into' in one;

/** Merges all rows of a kind into one statement, at the position of the first. */
export function numberedQueries(realmId: number, all: readonly Numbered[]): Query[] {
  const kinds = new Map<InsertNumbered, unknown[]>();
  const parts: (Query | InsertNumbered)[] = [];
  for (const one of all) {
    if (!isRow(one)) parts.push(one);
    else if (addRow(kinds, realmId, one)) parts.push(one.into);
  }
  // With `OFFSET 0`, the number is read once, not for each row.
  const numbers = sql.fragment`(SELECT ${realmId}::int AS realm_id, log.last_number(${realmId}) AS last OFFSET 0)`;
  return parts.map((part) => (typeof part === 'function' ? part(withNumbers(numbers, kinds.get(part))) : part));
}

/** Statements for the rows of several realms, after `log.append_many`. They write only rows of realms that it appended. */
export function numberedQueriesOfRealms(realms: readonly { realmId: number; rows: readonly NumberedRow[] }[]): Query[] {
  const kinds = new Map<InsertNumbered, unknown[]>();
  for (const { realmId, rows } of realms) for (const row of rows) addRow(kinds, realmId, row);
  const numbers = sql.fragment`log.appended()`;
  return [...kinds].map(([into, rows]) => into(withNumbers(numbers, rows)));
}

/** Joins rows with `numbers`, a table of realms with their last numbers: rows of other realms are not written. */
const withNumbers =
  (numbers: Fragment, rows: unknown): NumberedRows =>
  (columns) =>
    sql.fragment`(
    SELECT n.last - r.from_end AS number, r.* FROM ${numbers} n
    JOIN json_to_recordset(${JSON.stringify(rows)}::json) AS r (realm_id int, from_end int, ${columns}) ON r.realm_id = n.realm_id)`;

/** Returns whether it is the first row of its kind. */
function addRow(kinds: Map<InsertNumbered, unknown[]>, realmId: number, { into, row }: NumberedRow): boolean {
  const rows = kinds.get(into);
  rows?.push({ realm_id: realmId, ...row });
  if (!rows) kinds.set(into, [{ realm_id: realmId, ...row }]);
  return !rows;
}
