import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { giveLog, giveLogFunctions, grantTables, revokeFromAll, withLogOwner } from './rights.ts';
import { prepareOwnerSession, serviceSettings } from './session-settings.ts';
import { type Changing, type ConcurrentIndex, untilAlone, untilIndexed, untilLocked } from './until-locked.ts';
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
 * Applies missing migrations in order of file name; one runner at a time. Each is its own transaction, except the build of an
 * index (`concurrentIndex`). Sets the passwords of all services, or of those that have none. Applies nothing and throws
 * `ChangedMigrations` if a file differs from what was applied under its name. Waits up to `waitSeconds` for a server that is away.
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
    await prepareOwnerSession(client);
    await untilAlone({ client, log });
    await refuseHalfRestored(client);
    await client.query(migrationTable);
    const { rows } = await client.query<Applied>('SELECT name, checksum FROM public.migration');
    const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
    const migrations = await readMigrations();
    await checkApplied(client, migrations, applied);
    const changing: Changing = { client, connect, log };
    const run = (name: string, text: string) => untilLocked(changing, name, text);
    for (const { name, text, checksum } of migrations) {
      if (applied.has(name)) continue;
      const insert = `INSERT INTO public.migration (name, checksum) VALUES (${pg.escapeLiteral(name)}, '${checksum}')`;
      const index = concurrentIndex(text);
      // If the runner is killed before the insert, the next run finds the index, and only inserts.
      if (index) await untilIndexed(changing, name, index);
      const rest = index ? '' : `${withLogOwner(text)}; ${grantTables(serviceSchemas)}; `;
      await run(name, `BEGIN; ${rest}${insert}; COMMIT`);
      log(`migrated ${name}`);
    }
    await run('the owner of the log', giveLog());
    await run('the owner of the functions of the log', giveLogFunctions());
    await run('rights of the services', grantTables(serviceSchemas));
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
      for (const setting of serviceSettings) await client.query(`ALTER ROLE natter_${schema} SET ${setting}`);
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
 * The roles of services that were given a password before: a role gets its settings with its first password. Only a superuser
 * could read whether a role has a password.
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

/** The index of a migration whose only statement builds an index of a large table. It runs outside a transaction. */
function concurrentIndex(text: string): ConcurrentIndex | undefined {
  const only =
    /^(?:--.*\n|\s)*CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (?<name>\w+) ON (?<schema>\w+)\.[^;]*;\s*$/;
  const { name, schema } = only.exec(text)?.groups ?? {};
  return name === undefined ? undefined : { index: `${schema}.${name}`, text };
}

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

export const serviceSchemas = ['users', 'channels', 'messaging', 'event_queue', 'presence'] as const;
export type ServiceSchema = (typeof serviceSchemas)[number];

/** The URL a service connects with: its own role, limited to its own schema and the log functions. */
export function serviceUrl(url: string, schema: ServiceSchema, password: string): string {
  const parsed = new URL(url);
  parsed.username = `natter_${schema}`;
  parsed.password = password;
  return parsed.href;
}
