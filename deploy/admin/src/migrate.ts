import { migrate, type ServiceSchema } from '@natter/database';
import { derivedPassword } from '@natter/service-kit';
import { type Command, readOptions, requireEnv } from './command.ts';

export const adminUrl = (): string =>
  requireEnv(
    'NATTER_POSTGRES_ADMIN_URL',
    'the URL of the owner of the database, straight to Postgres and past any pooler',
  );

export const migrateCommand: Command = {
  name: 'migrate',
  usage: '',
  summary: 'Apply the migrations that are missing and set the passwords of the services',
  run: async (args) => {
    readOptions(args, [], []);
    await migrate(adminUrl(), postgresPassword, console.log);
    console.log('the database is up to date');
    return 0;
  },
};

/** NATTER_POSTGRES_PASSWORD_<SCHEMA> for each service, or one NATTER_SECRET that all are derived from. */
export function postgresPassword(schema: ServiceSchema): string {
  const variable = `NATTER_POSTGRES_PASSWORD_${schema.toUpperCase()}`;
  const given = process.env[variable];
  if (given) return given;
  return derivedPassword(
    requireEnv('NATTER_SECRET', `or ${variable}, the password of one service`),
    `postgres ${schema}`,
  );
}
