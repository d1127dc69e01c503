import pg from 'pg';
import { adminUrl } from './migrate.ts';

/** Runs `work` with a connection to Postgres as the owner of the database. */
export async function withPostgres<R>(work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: adminUrl(), connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export interface StoredRealm {
  id: number;
  host: string;
  name: string;
  is_deactivated: boolean;
}

/** The realm with exactly this host, or the default realm for the word `default`. */
export async function storedRealm(client: pg.Client, host: string): Promise<StoredRealm> {
  const { rows } = await client.query<StoredRealm>(
    `SELECT id, host, name, is_deactivated FROM users.realm
    WHERE deletion_started_at IS NULL AND (host = $1 OR $1 = 'default' AND is_default) ORDER BY (host = $1) DESC`,
    [host],
  );
  const [realm] = rows;
  if (!realm) throw new Error(`no realm has the host ${host}: see natter realm list`);
  return realm;
}
