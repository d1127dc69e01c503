import { type Database, sql } from './database.ts';

/**
 * Repeats a statement that changes at most `limit` rows until it changes fewer, or the process is stopping. If a single
 * statement for all rows needed more time than a statement may take, it would be cancelled each time, and would never succeed.
 */
export async function inBatches(
  limit: number,
  isStopped: () => boolean,
  changeSome: () => Promise<number>,
): Promise<void> {
  for (let changed = limit; changed >= limit && !isStopped(); ) changed = await changeSome();
}

const deletedAtOnce = 5_000;

/** Deletes the rows of a table that meet a condition, except those that are locked. `table`: with its schema. */
export function deleteInBatches(
  database: Database,
  table: `${string}.${string}`,
  condition: ReturnType<typeof sql.fragment>,
  isStopped: () => boolean,
): Promise<void> {
  const name = sql.identifier(table.split('.'));
  return inBatches(deletedAtOnce, isStopped, () =>
    database.run(sql.unsafe`
      DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${name} WHERE ${condition} LIMIT ${deletedAtOnce} FOR UPDATE SKIP LOCKED))`),
  );
}
