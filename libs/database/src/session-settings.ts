import type pg from 'pg';

/**
 * Settings that determine the meaning of statements and the format of values. A database or its host may have other defaults
 * (`ALTER DATABASE ... SET`), which the code does not support. The list leaves out settings that an operator may need, such as
 * `default_transaction_read_only` or `synchronous_commit`.
 */
const meanings = {
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  extra_float_digits: '1',
  bytea_output: 'hex',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
};

/**
 * Limits for statements of processes that are gone or hang; running work has stricter limits. They are settings of the
 * roles, because a pooler in transaction mode rejects session settings.
 */
const backstops = {
  statement_timeout: '90s',
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '60s',
  idle_session_timeout: '0', // the pool of a service ends idle sessions itself
};

/**
 * PostgreSQL ends the sessions of a machine that is gone, and with them their locks, after half a minute. The usual settings
 * of operating systems let it wait for two hours.
 */
const keepalives = { tcp_keepalives_idle: '15', tcp_keepalives_interval: '5', tcp_keepalives_count: '3' };

const settings = (values: Record<string, string>): string[] =>
  Object.entries(values).map(([name, value]) => `${name} = '${value}'`);

/** Each role of a service has these. */
export const serviceSettings: readonly string[] = settings({ ...meanings, ...backstops, ...keepalives });

/**
 * For the owner of the database, whose own settings are the operator's. Migrations and deletions take as long as they need: the
 * limit of a database ended them at the same statement each time. `statementMs` is for look-ups; 0 means no limit.
 */
export async function prepareOwnerSession(client: Pick<pg.Client, 'query'>, statementMs = 0): Promise<void> {
  // First, and alone: with these limits, the rest could take too long. The second one exists from PostgreSQL 17 on.
  await client.query(`SET statement_timeout = ${statementMs}`);
  await client.query(
    "SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('server_version_num')::int >= 170000",
  );
  await client.query(
    settings({ ...meanings, ...keepalives, idle_in_transaction_session_timeout: '0', idle_session_timeout: '0' })
      .map((setting) => `SET ${setting}`)
      .join('; '),
  );
}
