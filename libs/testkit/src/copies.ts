import { totals } from '@natter/contracts';
import pg from 'pg';
import { inject } from 'vitest';

/** Names of the collections whose size is limited. */
export const totalNames = (): string[] => Object.keys(totals);

/** Rows of a table. */
export const countOf = (table: string, where: string): Promise<number> =>
  connected(async (client) => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE ${where}`,
    );
    return rows[0]?.count ?? 0;
  });

/**
 * Duplicates a row of a table directly in the database: creating thousands of rows over HTTP would take minutes.
 * `differing` are columns with a different value in each duplicate, as SQL over `n`, its number, and `t`, the row.
 * Identity columns are assigned automatically.
 */
export const copyRow = (
  { table, where }: { table: string; where: string },
  count: number,
  differing: Record<string, string>,
): Promise<void> =>
  connected(async (client) => {
    await client.query('BEGIN');
    // The duplicates refer to users that do not exist.
    await client.query('SET LOCAL session_replication_role = replica');
    const { rows } = await client.query<{ attname: string }>(
      "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attidentity <> ''",
      [table],
    );
    const next = rows.map(({ attname }) => [attname, `nextval(pg_get_serial_sequence('${table}', '${attname}'))`]);
    const values = { ...Object.fromEntries(next), ...differing };
    // The reference to `n` makes Postgres evaluate the expressions for each duplicate.
    const pairs = Object.entries({ ...values, '': 'n' }).map(([column, expression]) => `'${column}', ${expression}`);
    const made = await client.query(`
      INSERT INTO ${table} OVERRIDING SYSTEM VALUE
      SELECT r.* FROM (SELECT * FROM ${table} WHERE ${where} LIMIT 1) t CROSS JOIN generate_series(1, ${count}) n
      CROSS JOIN LATERAL jsonb_populate_record(NULL::${table}, to_jsonb(t) || jsonb_build_object(${pairs.join(', ')})) r`);
    if (made.rowCount !== count) throw new Error(`${table}: ${made.rowCount} copies instead of ${count}`);
    await client.query('COMMIT');
    // Autovacuum does it within minutes. Until then plans assume that the table is as small as before.
    if (count >= 1_000) await client.query(`ANALYZE ${table}`);
  });

export async function connected<R>(work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: inject('natterPostgresUrl') });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
