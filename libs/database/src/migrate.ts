import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { sqlState } from './sql-state.ts';

const folder = new URL('../migrations/', import.meta.url);

/** Applies what is missing, in order of file name, each in a transaction of its own; one runner at a time. */
export async function migrate(
  url: string,
  servicePassword: string | ((schema: ServiceSchema) => string),
  log: (line: string) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(7103)');
    await client.query(
      'CREATE TABLE IF NOT EXISTS public.migration (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())',
    );
    const { rows } = await client.query<{ name: string }>('SELECT name FROM public.migration');
    const applied = new Set(rows.map((row) => row.name));
    // Not before: another runner may take long.
    await client.query(`SET lock_timeout = '${lockSeconds}s'`);
    for (const name of await migrationNames()) {
      if (applied.has(name)) continue;
      const text = await readFile(new URL(name, folder), 'utf8');
      const insert = `INSERT INTO public.migration (name) VALUES (${pg.escapeLiteral(name)})`;
      await untilLocked(client, name, `BEGIN; ${text}; ${insert}; COMMIT`, log);
      log(`migrated ${name}`);
    }
    await untilLocked(client, 'the owner of the log', giveLog, log);
    // A system that stood still for days, or was restored from long ago, has no partition for today.
    await untilLocked(client, 'partitions of the log', 'SELECT log.prepare_partitions(4)', log);
    for (const schema of serviceSchemas) {
      const password = typeof servicePassword === 'string' ? servicePassword : servicePassword(schema);
      await client.query(`ALTER ROLE natter_${schema} LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
      // Short statements over functions look costly to the planner, and compiling one takes half a second of CPU.
      await client.query(`ALTER ROLE natter_${schema} SET jit = off`);
      for (const [name, value] of Object.entries(backstops))
        await client.query(`ALTER ROLE natter_${schema} SET ${name} = '${value}'`);
    }
  } finally {
    await client.end();
  }
}

/** Statements queue behind one that waits for a lock: it waits this long, then lets them pass. */
const lockSeconds = 2;
const restMs = 1_000;
const maxAttempts = 200;
/** A lock was not available in time, or several waited for each other. */
const isLocked = (error: unknown): boolean => ['55P03', '40P01'].includes(sqlState(error) ?? '');

/** Runs a text that is one transaction, again while others hold what it has to lock: about ten minutes. */
async function untilLocked(client: pg.Client, name: string, text: string, log: (line: string) => void): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(text);
      return;
    } catch (error) {
      await client.query('ROLLBACK');
      if (!isLocked(error) || attempt >= maxAttempts) throw error;
      if (attempt % 10 === 1) log(`${name} waits for a lock that others hold`);
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }
}

/**
 * For statements whose process is gone or hangs: work under way has closer limits of its own. They are settings of the
 * roles, because a pooler in transaction mode refuses settings of a session.
 */
const backstops = {
  statement_timeout: '90s',
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '60s',
} as const;

/** Partitions are detached by their owner; a dump that was restored without owners has another. See 008-log-retention.sql. */
const giveLog = `DO $$ BEGIN
  IF (SELECT relowner::regrole::text FROM pg_class WHERE oid = 'log.event'::regclass) <> 'natter_event_queue' THEN
    GRANT CREATE ON SCHEMA log TO natter_event_queue;
    IF NOT pg_has_role('natter_event_queue', 'MEMBER') THEN
      EXECUTE format('GRANT natter_event_queue TO %I', current_user);
    END IF;
    ALTER TABLE log.event OWNER TO natter_event_queue;
    REVOKE CREATE ON SCHEMA log FROM natter_event_queue;
    REVOKE ALL ON log.event FROM natter_event_queue;
    EXECUTE format('GRANT SELECT, INSERT ON log.event TO %I', current_user);
  END IF;
END $$`;

/** Every migration there is, in the order in which they are applied. */
export const migrationNames = async (): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();

export const serviceSchemas = ['users', 'channels', 'messaging', 'event_queue', 'presence'] as const;
export type ServiceSchema = (typeof serviceSchemas)[number];

/** The URL a service connects with: its own role, which reaches its own schema and the log's functions. */
export function serviceUrl(url: string, schema: ServiceSchema, password: string): string {
  const parsed = new URL(url);
  parsed.username = `natter_${schema}`;
  parsed.password = password;
  return parsed.href;
}
