import { migrate, readMigrations, type ServiceSchema, untilMigrated } from '@natter/database';
import { derivedPassword } from '@natter/service-kit';
import { type Command, readOptions, requireEnv, UsageError } from './command.ts';

export const adminUrl = (): string =>
  requireEnv(
    'NATTER_POSTGRES_ADMIN_URL',
    'the URL of the owner of the database, straight to Postgres and past any pooler',
  );

export const migrateCommand: Command = {
  name: 'migrate',
  usage: '[--set-passwords] [--wait SECONDS]',
  summary:
    'Apply the migrations that are missing; set passwords of services that have none, or with --set-passwords all of them',
  run: async (args, output) => {
    const { flags, wait } = readOptions(args, [], ['wait'], ['set-passwords']);
    const lines: string[] = [];
    const log = (line: string): void => {
      lines.push(line);
      output.progress(line);
    };
    const passwordOf = (schema: ServiceSchema): string => {
      const password = postgresPassword(schema);
      log(`set the password of natter_${schema}`);
      return password;
    };
    await migrate(adminUrl(), passwordOf, log, {
      passwords: flags.has('set-passwords') ? 'all' : 'missing',
      waitSeconds: seconds(wait),
    });
    output.done('the database is up to date', { is_current: true, log: lines });
    return 0;
  },
};

/** Init containers of services run this, because pods may start before the migrations have run. */
export const awaitSchema: Command = {
  name: 'await-schema',
  usage: '[--wait SECONDS]',
  summary: 'Wait until the database has the migrations of this version (with NATTER_POSTGRES_URL of a service)',
  run: async (args, output) => {
    const { wait } = readOptions(args, [], ['wait']);
    const last = (await readMigrations()).at(-1)?.name ?? '';
    const url = requireEnv('NATTER_POSTGRES_URL', 'the URL of a service that owns tables');
    await untilMigrated(url, last, { seconds: seconds(wait), log: output.progress });
    output.done(`the schema is at ${last} or later`, { at_least: last });
    return 0;
  },
};

/** How long a server may be away; without an answer it is asked once. */
export function seconds(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d{1,5}$/.test(text)) throw new UsageError('--wait takes a number of seconds');
  return Number(text);
}

/** NATTER_POSTGRES_PASSWORD_<SCHEMA> for each service, or one NATTER_SECRET from which all are derived. */
export function postgresPassword(schema: ServiceSchema): string {
  const variable = `NATTER_POSTGRES_PASSWORD_${schema.toUpperCase()}`;
  const given = process.env[variable];
  if (given) return given;
  return derivedPassword(
    requireEnv('NATTER_SECRET', `or ${variable}, the password of one service`),
    `postgres ${schema}`,
  );
}
