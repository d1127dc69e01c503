import { serviceSchemas } from '@natter/database';
import type pg from 'pg';
import { type Finding, fail, runbook } from './finding.ts';

type Read = <R extends pg.QueryResultRow>(text: string) => Promise<R[]>;

const roles = serviceSchemas.map((schema) => `'natter_${schema}'`).join(', ');

/** Settings of the roles of services that lose or refuse what they write. They do not hold in the session of the doctor. */
export async function checkRoles(read: Read): Promise<Finding[]> {
  // The precedence of PostgreSQL: settings of the role for this database, of the role, of this database.
  const rows = await read<{ role: string; name: string }>(`
    SELECT role, name FROM (
      SELECT DISTINCT ON (role, name) r.rolname AS role, split_part(entry, '=', 1) AS name, split_part(entry, '=', 2) AS setting
      FROM pg_roles r
        JOIN pg_database d ON d.datname = current_database()
        JOIN pg_db_role_setting s ON s.setrole IN (0, r.oid) AND s.setdatabase IN (0, d.oid), unnest(s.setconfig) entry
      WHERE r.rolname IN (${roles})
      ORDER BY role, name, s.setrole = 0, s.setdatabase = 0) effective
    WHERE (name = 'synchronous_commit' AND lower(setting) IN ('off', 'false', 'no', '0'))
      OR (name = 'default_transaction_read_only' AND lower(setting) IN ('on', 'true', 'yes', '1'))
    ORDER BY name, role`);
  const of = (setting: string): string => rows.flatMap(({ role, name }) => (name === setting ? [role] : [])).join(', ');
  const [lossy, readOnly] = [of('synchronous_commit'), of('default_transaction_read_only')];
  return [
    ...(lossy
      ? [fail('roles in Postgres', `may lose what it acknowledged: synchronous_commit is off for ${lossy}`)]
      : []),
    ...(readOnly
      ? [fail('roles in Postgres', `refuses writes: default_transaction_read_only is on for ${readOnly}`, page)]
      : []),
  ];
}

const page = runbook('NatterPostgresAway');
