import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { untilAlone, untilLocked } from './until-locked.ts';
import { connectWithRetry, migratedTo } from './wait-for-postgres.ts';

const folder = new URL('../migrations/', import.meta.url);

/** A migration file was changed after it was applied, so the schema differs from the files. */
class ChangedMigrations extends Error {
  constructor(names: readonly string[]) {
    super(
      `Changed after they were applied: ${names.join(', ')}. Restore these files, and make the change with a new migration`,
    );
    this.name = 'ChangedMigrations';
  }
}

/**
 * Applies missing migrations in order of file name, each in its own transaction; one runner at a time. Sets the passwords
 * of all services, or of those that have none. Applies nothing and throws `ChangedMigrations` if a file differs from what
 * was applied under its name. Waits up to `waitSeconds` for a server that is away.
 */
export async function migrate(
  url: string,
  servicePassword: string | ((schema: ServiceSchema) => string),
  log: (line: string) => void,
  { passwords = 'all', waitSeconds = 0 }: { passwords?: 'all' | 'missing'; waitSeconds?: number } = {},
): Promise<void> {
  const client = await connectWithRetry(url, { seconds: waitSeconds, log });
  const connect = () => connectWithRetry(url, { seconds: 0, log });
  try {
    await client.query(
      settings(keepalives)
        .map((setting) => `SET ${setting}`)
        .join('; '),
    );
    await untilAlone({ client, log });
    await refuseHalfRestored(client);
    await client.query(migrationTable);
    const { rows } = await client.query<Applied>('SELECT name, checksum FROM public.migration');
    const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
    const migrations = await readMigrations();
    await checkApplied(client, migrations, applied);
    const run = (name: string, text: string) => untilLocked({ client, connect, log }, name, text);
    for (const { name, text, checksum } of migrations) {
      if (applied.has(name)) continue;
      const insert = `INSERT INTO public.migration (name, checksum) VALUES (${pg.escapeLiteral(name)}, '${checksum}')`;
      await run(name, `BEGIN; ${text}; ${grantTables()}; ${insert}; COMMIT`);
      log(`migrated ${name}`);
    }
    await run('the owner of the log', giveLog);
    await run('the owner of the functions of the log', giveLogFunctions());
    await run('rights of the services', grantTables());
    await run('rights of all roles', revokeFromAll);
    // A system that was stopped for days, or restored from an old backup, has no partition for today.
    await run('partitions of the log', 'SELECT log.prepare_partitions(4)');
    const configured = await configuredRoles(client);
    for (const schema of serviceSchemas) {
      if (passwords === 'all' || !configured.has(`natter_${schema}`)) {
        const password = typeof servicePassword === 'string' ? servicePassword : servicePassword(schema);
        await client.query(`ALTER ROLE natter_${schema} LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
      }
      // The planner overestimates short statements over functions, and compiling one takes half a second of CPU.
      await client.query(`ALTER ROLE natter_${schema} SET jit = off`);
      for (const setting of settings({ ...backstops, ...keepalives }))
        await client.query(`ALTER ROLE natter_${schema} SET ${setting}`);
    }
    // Last: `untilMigrated` reads it. An older release that runs after a newer one changes no schema.
    const names = [...applied.keys(), ...migrations.map(({ name }) => name)].sort();
    await client.query(`COMMENT ON SCHEMA log IS ${pg.escapeLiteral(`${migratedTo}${names.at(-1)}`)}`);
  } finally {
    await client.end();
  }
}

/** The comment of a database into which a dump is being restored begins with this. */
export const restoringMark = 'natter: restoring ';

/** Without the new epoch that follows a restore, services would assign ids twice. */
async function refuseHalfRestored(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ mark: string | null }>(
    "SELECT shobj_description(oid, 'pg_database') AS mark FROM pg_database WHERE datname = current_database()",
  );
  if (rows[0]?.mark?.startsWith(restoringMark))
    throw new Error(
      'The restore of this database has not ended: repeat it (see "Backup and restore" in the documentation)',
    );
}

/**
 * The roles of services that were given a password before: a role gets its settings with its first password. Only a superuser could read
 * whether a role has a password.
 */
async function configuredRoles(client: pg.Client): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ rolname: string }>(
    "SELECT rolname FROM pg_roles WHERE rolname LIKE 'natter\\_%' AND rolconfig IS NOT NULL",
  );
  return new Set(rows.map(({ rolname }) => rolname));
}

/** The runner of the previous release stores no checksum: the next run adds it. */
const migrationTable = `
  CREATE TABLE IF NOT EXISTS public.migration (name text PRIMARY KEY, applied_at timestamptz DEFAULT now(), checksum text);
  ALTER TABLE public.migration ADD COLUMN IF NOT EXISTS checksum text`;

interface Applied {
  name: string;
  checksum: string | null;
}

export interface Migration {
  name: string;
  text: string;
  /** SHA-256 of the text. */
  checksum: string;
}

/** All migrations, in the order in which they are applied. */
export const readMigrations = async (): Promise<Migration[]> =>
  Promise.all(
    (await readdir(folder))
      .filter((name) => name.endsWith('.sql'))
      .sort()
      .map(async (name) => {
        const text = await readFile(new URL(name, folder), 'utf8');
        return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
      }),
  );

async function checkApplied(
  client: pg.Client,
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, string | null>,
): Promise<void> {
  const changed = migrations.filter(({ name, checksum }) => (applied.get(name) ?? checksum) !== checksum);
  if (changed.length > 0) throw new ChangedMigrations(changed.map(({ name }) => name));
  for (const { name, checksum } of migrations)
    if (applied.get(name) === null)
      await client.query('UPDATE public.migration SET checksum = $2 WHERE name = $1', [name, checksum]);
}

/**
 * Limits for statements of processes that are gone or hang; running work has stricter limits. They are settings of the
 * roles, because a pooler in transaction mode rejects session settings.
 */
const backstops = {
  statement_timeout: '90s',
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '60s',
} as const;

/**
 * PostgreSQL ends the sessions of a machine that is gone, and with them their locks, after half a minute. The usual settings
 * of operating systems let it wait for two hours.
 */
const keepalives = { tcp_keepalives_idle: '15', tcp_keepalives_interval: '5', tcp_keepalives_count: '3' } as const;

const settings = (values: Record<string, string>): string[] =>
  Object.entries(values).map(([name, value]) => `${name} = '${value}'`);

/**
 * Services create no temporary tables, because these could shadow names, and nothing in schema public. Every run revokes
 * both rights: a new database grants them to all roles, and a dump that is restored into it does not contain their revocation.
 */
const revokeFromAll = `DO $$ BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
END $$`;

/**
 * Only the owner of `log.event` can detach its partitions. After the restore of a dump without owners, another role owns it.
 * See 008-log-retention.sql.
 */
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

/** Functions that run with the rights of natter_log, which may use only the log. See 015-trust-writers.sql. */
const logFunctions = [
  ...[
    'append',
    'append_many',
    'read',
    'read_some',
    'read_types',
    'waiting_since',
    'last_number',
    'position',
    'versions',
    'realms',
  ],
  ...['create_realm', 'new_epoch', 'dropped', 'own_key', 'keys'],
];

/**
 * After the restore of a dump without owners, the owner of the database owns the functions. Then code that the owner of
 * log.event attaches to the table, such as a trigger, would run with all rights.
 */
const giveLogFunctions = (): string => `DO $$ DECLARE f regprocedure; BEGIN
  FOR f IN SELECT p.oid::regprocedure FROM pg_proc p
    WHERE p.pronamespace = 'log'::regnamespace AND p.proowner <> 'natter_log'::regrole
      AND p.proname IN (${logFunctions.map((name) => `'${name}'`).join(', ')})
  LOOP
    IF NOT pg_has_role('natter_log', 'MEMBER') THEN
      EXECUTE format('GRANT natter_log TO %I', current_user);
    END IF;
    GRANT CREATE ON SCHEMA log TO natter_log;
    EXECUTE format('ALTER FUNCTION %s OWNER TO natter_log', f);
    REVOKE CREATE ON SCHEMA log FROM natter_log;
  END LOOP;
END $$`;

/**
 * Grants each service the tables and sequences of its own schema, so migrations need no grants for new ones. The grants are
 * part of each migration, because its triggers may write new tables for processes of the previous release at once.
 */
const grantTables = (): string => `DO $$ DECLARE o record; BEGIN
  FOR o IN SELECT c.oid::regclass AS name, c.relkind, 'natter_' || n.nspname AS role
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_roles r ON r.rolname = 'natter_' || n.nspname
    WHERE n.nspname IN (${serviceSchemas.map((schema) => `'${schema}'`).join(', ')}) AND c.relkind IN ('r', 'p', 'S')
  LOOP
    IF o.relkind = 'S' THEN
      IF NOT has_sequence_privilege(o.role, o.name, 'USAGE') OR NOT has_sequence_privilege(o.role, o.name, 'SELECT') THEN
        EXECUTE format('GRANT USAGE, SELECT ON SEQUENCE %s TO %I', o.name, o.role);
      END IF;
    ELSIF NOT (has_table_privilege(o.role, o.name, 'SELECT') AND has_table_privilege(o.role, o.name, 'INSERT')
      AND has_table_privilege(o.role, o.name, 'UPDATE') AND has_table_privilege(o.role, o.name, 'DELETE')) THEN
      EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %I', o.name, o.role);
    END IF;
  END LOOP;
END $$`;

export const serviceSchemas = ['users', 'channels', 'messaging', 'event_queue', 'presence'] as const;
export type ServiceSchema = (typeof serviceSchemas)[number];

/** The URL a service connects with: its own role, limited to its own schema and the log functions. */
export function serviceUrl(url: string, schema: ServiceSchema, password: string): string {
  const parsed = new URL(url);
  parsed.username = `natter_${schema}`;
  parsed.password = password;
  return parsed.href;
}
