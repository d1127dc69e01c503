import { prepareOwnerSession } from '@natter/database';
import pg from 'pg';
import { adminUrl } from './migrate.ts';

/** How long Postgres may be unreachable at first: Kubernetes applies network policies to a new pod with a delay. */
const unreachableMs = 10_000;
const retryMs = 500;

/** A client that is not connected yet, by default as the owner of the database. */
export function postgresClient(options: pg.ClientConfig = {}): pg.Client {
  const client = new pg.Client({ connectionString: adminUrl(), connectionTimeoutMillis: 5_000, ...options });
  // The next query fails. Without a listener, the end of a connection would end the command without a report.
  client.on('error', () => undefined);
  return client;
}

/**
 * A client that is connected and understands this database, whatever its defaults are. No statement has a limit but a given
 * one.
 */
export async function connectPostgres(options: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = postgresClient(options);
  try {
    await client.connect();
    await prepareOwnerSession(client, options.statement_timeout || 0);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** Runs `work` with a connection to Postgres as the owner of the database. */
export async function withPostgres<R>(work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = await connected();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function connected(): Promise<pg.Client> {
  const until = Date.now() + unreachableMs;
  for (;;) {
    try {
      return await connectPostgres({ connectionTimeoutMillis: 10_000 });
    } catch (error) {
      // An error from Postgres itself is not temporary.
      if (error instanceof pg.DatabaseError || Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
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
