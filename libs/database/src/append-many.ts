import type { LogEntry, LogEvent } from '@natter/contracts';
import type pg from 'pg';
import { z } from 'zod';
import type { Connection } from './connection.ts';
import { sql, toLiteralSql } from './database.ts';
import { type NumberedRow, numberedQueriesOfRealms } from './numbered.ts';
import { boundsOf, entriesOf, numbersRow, throwAsKnown, usualIdleMs } from './unit-of-work.ts';

/** The writes of a realm in a transaction with those of other realms. They bump no versions. */
export interface Share {
  realmId: number;
  /** The events of the realm, at least one. */
  events: readonly LogEvent[];
  rows: readonly NumberedRow[];
  /** The argument for `log.append_many`, from `itemOf`. */
  item: string;
}

/**
 * The events were appended and the rows written; or nothing was written, because an expected version has changed
 * (`stale`), or because the clock is locked or does not exist (`busy`).
 */
export type Outcome = { entries: LogEntry[] } | { stale: string } | 'busy';

const appendedRow = z.object({
  appended: z.array(
    z.union([numbersRow.extend({ realm_id: z.number() }), z.object({ realm_id: z.number(), stale: z.string() })]),
  ),
});

/** `lock_timeout` of the transaction. Writes of one realm that wait delay the others; after this the realms are divided. */
const lockMs = 25;

export const itemOf = (realmId: number, expected: Record<string, number>, events: readonly LogEvent[]): string =>
  JSON.stringify({ realm_id: realmId, basis: expected, events });

/**
 * Commits the writes of several realms in one transaction. The writes of a realm are committed if its expected versions are
 * current and its clock is not locked, independently of the other realms. All statements are sent in one message, as in
 * `appendAndCommit`. If it throws, nothing was committed, unless the connection was lost.
 */
export async function appendMany(
  { query, deadline }: Connection,
  source: string,
  shares: readonly Share[],
): Promise<Map<number, Outcome>> {
  const { begin, checkDeadline } = boundsOf(deadline, usualIdleMs, lockMs);
  const items = `[${shares.map(({ item }) => item).join(',')}]`;
  const append = sql.unsafe`SELECT log.append_many(${source}, ${items}::json) AS appended`;
  // Separate statements: within a single one, the rows would not see the numbers that its first part assigned.
  const statements = [append, ...numberedQueriesOfRealms(shares)].map(toLiteralSql);
  const message = [begin, ...statements, checkDeadline, 'COMMIT'].join('; ');
  const results = (await query(message).catch(throwAsKnown)) as unknown as pg.QueryResult[];
  const result = results.find(({ fields }) => fields[0]?.name === 'appended');
  const { appended } = appendedRow.parse(result?.rows[0]);
  const byRealm = new Map(appended.map((one) => [one.realm_id, one]));
  return new Map(
    shares.map(({ realmId, events }): [number, Outcome] => {
      const one = byRealm.get(realmId);
      if (!one) return [realmId, 'busy'];
      return [realmId, 'stale' in one ? { stale: one.stale } : { entries: entriesOf(events, one) }];
    }),
  );
}
