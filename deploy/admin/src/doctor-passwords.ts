import { serviceSchemas, serviceUrl, sqlState } from '@natter/database';
import pg from 'pg';
import { type Finding, fail, ok, runbook, warn } from './finding.ts';
import { adminUrl, postgresPassword } from './migrate.ts';
import { postgresClient } from './postgres.ts';

const wrongPassword = '28P01';

/**
 * Whether Postgres lets each service log in with its configured password. Needs the variables from which `natter migrate` takes
 * the passwords.
 */
export async function checkPasswords(): Promise<Finding[]> {
  const given = serviceSchemas.filter(
    (schema) => process.env.NATTER_SECRET || process.env[`NATTER_POSTGRES_PASSWORD_${schema.toUpperCase()}`],
  );
  const findings = await Promise.all(given.map(checkPassword));
  const wrong = findings.filter((finding) => finding !== undefined);
  return wrong.length > 0 || given.length === 0
    ? wrong
    : [ok('passwords', `${given.length} services log in to Postgres`)];
}

async function checkPassword(schema: (typeof serviceSchemas)[number]): Promise<Finding | undefined> {
  const client = postgresClient({
    connectionString: serviceUrl(adminUrl(), schema, postgresPassword(schema)),
  });
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    const subject = `password of ${schema}`;
    const page = runbook('NatterPostgresAway');
    const text = (error as Error).message;
    if (sqlState(error) === wrongPassword)
      return fail(subject, `Postgres refuses it for natter_${schema}: run \`natter migrate --set-passwords\``, page);
    return mayBeLocal(error)
      ? warn(subject, `not checked: ${text}`, page)
      : fail(subject, `Postgres refuses the login of natter_${schema}: ${text}`, page);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Whether the cause may be the machine of the doctor: its network, or `pg_hba.conf`, which may permit a role other machines
 * only.
 */
const mayBeLocal = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || (error.code === '28000' && error.routine === 'ClientAuthentication');
