import pg from 'pg';
import { isConnectionFailure, isServerTrouble } from './sql-state.ts';

const attemptMs = 10_000;
const restMs = 1_000;

export interface WaitOptions {
  seconds: number;
  log: (line: string) => void;
}

/** Connects to the server; while it is unavailable, tries again until the time is over. The caller ends the client. */
export function connectWithRetry(url: string, options: WaitOptions): Promise<pg.Client> {
  const isAway = (error: unknown): boolean => isConnectionFailure(error) || isServerTrouble(error);
  return retry(options, isAway, async () => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: attemptMs });
    // Without a listener, an idle connection that breaks would end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  });
}

/** Waits until `migrate` has brought the schema at least to the last migration of this release. */
export async function untilMigrated(url: string, lastMigration: string, options: WaitOptions): Promise<void> {
  const check = async (): Promise<void> => {
    const client = await connectWithRetry(url, { ...options, seconds: 0 });
    try {
      const { rows } = await client.query<{ comment: string | null }>(
        "SELECT obj_description(oid, 'pg_namespace') AS comment FROM pg_namespace WHERE nspname = 'log'",
      );
      const applied = rows[0]?.comment?.replace(migratedTo, '') ?? '';
      if (applied < lastMigration) throw new Error(`the schema is at "${applied}", not yet at "${lastMigration}"`);
    } finally {
      await client.end();
    }
  };
  // A role that does not exist yet, or has no password yet, is created by the migrations too.
  await retry(options, () => true, check);
}

/** Services may not read the table of migrations. A comment on a schema can be read by every role. */
export const migratedTo = 'migrated to ';

async function retry<T>(
  { seconds, log }: WaitOptions,
  mayRetry: (error: unknown) => boolean,
  run: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + seconds * 1_000;
  for (let last = ''; ; ) {
    try {
      return await run();
    } catch (error) {
      if (performance.now() + restMs > deadline || !mayRetry(error)) throw error;
      const text = error instanceof AggregateError ? error.errors.join('; ') : String((error as Error).message);
      if (text !== last) log(`waiting for PostgreSQL: ${text}`);
      last = text;
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }
}
