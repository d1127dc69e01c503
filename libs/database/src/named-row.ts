import { sqlState } from './sql-state.ts';

/** The row that made a commit fail, as named by its error: the realm, and columns with their values. */
export interface NamedRow {
  realm_id: number;
  [column: string]: unknown;
}

/** The unit was rolled back because its key already has a row. */
export const isKeyTaken = (error: unknown): boolean =>
  error instanceof Error && 'constraint' in error && error.constraint === 'idempotency_pkey';

/** Undefined if the error names no row. */
export function namedRow(error: unknown): NamedRow | undefined {
  const detail = error instanceof Error && 'detail' in error ? error.detail : undefined;
  if (typeof detail !== 'string') return undefined;
  // Functions of the migrations give the columns as JSON.
  if (sqlState(error) === 'NT409') return JSON.parse(detail);
  if (!isKeyTaken(error)) return undefined;
  // "Key (realm_id, user_id, key)=(1, 7, …) already exists.", in the language of the server.
  const [, realmId, userId, key] = /=\((\d+), (\d+), (.*)\)/s.exec(detail) ?? [];
  return realmId === undefined ? undefined : { realm_id: Number(realmId), user_id: Number(userId), key };
}
