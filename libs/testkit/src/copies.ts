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
 * Copies a row of a table, as the operator of the database: thousands of rows would take minutes over HTTP. `differing` are columns that
 * differ in each copy, as SQL over `n`, the number of the copy, and `t`, the row. Identity columns go on by themselves.
 */
export const copyRow = (
  { table, where }: { table: string; where: string },
  count: number,
  differing: Record<string, string>,
): Promise<void> =>
  connected(async (client) => {
    await client.query('BEGIN');
    // Copies refer to people that do not exist.
    await client.query('SET LOCAL session_replication_role = replica');
    const { rows } = await client.query<{ attname: string }>(
      "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attidentity <> ''",
      [table],
    );
    const next = rows.map(({ attname }) => [attname, `nextval(pg_get_serial_sequence('${table}', '${attname}'))`]);
    const values = { ...Object.fromEntries(next), ...differing };
    // With `n` in it the record is made anew for each copy.
    const pairs = Object.entries({ ...values, '': 'n' }).map(([column, expression]) => `'${column}', ${expression}`);
    const made = await client.query(`
      INSERT INTO ${table} OVERRIDING SYSTEM VALUE
      SELECT r.* FROM (SELECT * FROM ${table} WHERE ${where} LIMIT 1) t CROSS JOIN generate_series(1, ${count}) n
      CROSS JOIN LATERAL jsonb_populate_record(NULL::${table}, to_jsonb(t) || jsonb_build_object(${pairs.join(', ')})) r`);
    if (made.rowCount !== count) throw new Error(`${table}: ${made.rowCount} copies instead of ${count}`);
    await client.query('COMMIT');
  });

async function connected<R>(work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: inject('natterPostgresUrl') });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
