import { readMigrations, serviceSchemas } from '@natter/database';
import type pg from 'pg';
import { checkRoles } from './doctor-roles.ts';
import { type Finding, fail, ok, runbook, section, warn } from './finding.ts';
import { connectPostgres } from './postgres.ts';

/** The end of a realm's record. */
export interface Clock {
  realmId: number;
  number: number;
  mark: number;
}

/**
 * Checks durability, migrations, future partitions, consumers and parked events. Fills in the clocks for other checks.
 */
export async function checkPostgres(clocks: Clock[], maxLagSeconds: number): Promise<Finding[]> {
  const client = await connectPostgres({ query_timeout: 30_000 });
  try {
    const read = async <R extends pg.QueryResultRow>(text: string): Promise<R[]> => (await client.query<R>(text)).rows;
    const findings = [
      ...(await durability(read)),
      ...(await checkRoles(read)),
      ...(await skew(read)),
      ...(await migrations(read)),
    ];
    if (findings.some(({ state, subject }) => state === 'FAIL' && subject === 'migrations')) return findings;
    for (const { realm_id, number, mark } of await read<{ realm_id: number; number: string; mark: number }>(
      'SELECT realm_id, number, mark FROM log.clock',
    ))
      clocks.push({ realmId: realm_id, number: Number(number), mark });
    findings.push(ok('log', `${clocks.length} realms, ${clocks.reduce((sum, { number }) => sum + number, 0)} events`));
    return [...findings, ...(await partitions(read)), ...(await consumers(read, maxLagSeconds))];
  } finally {
    await client.end();
  }
}

type Read = <R extends pg.QueryResultRow>(text: string) => Promise<R[]>;

async function durability(read: Read): Promise<Finding[]> {
  const rows = await read<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'fsync', 'full_page_writes', 'synchronous_commit')",
  );
  const setting = new Map(rows.map(({ name, setting }) => [name, setting]));
  const off = rows.filter(({ setting }) => setting === 'off').map(({ name }) => name);
  const version = `PostgreSQL ${setting.get('server_version')}`;
  return off.length === 0
    ? [ok('Postgres', `${version}, durable`)]
    : [fail('Postgres', `${version} may lose what it acknowledged: ${off.join(', ')} off`)];
}

const maxSkewSeconds = 2;

/** The clock of this machine against that of Postgres, by which messages are dated and sent. */
async function skew(read: Read): Promise<Finding[]> {
  const before = Date.now();
  const [row] = await read<{ now: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now');
  const after = Date.now();
  const now = row?.now ?? before;
  // The database read its clock between the two.
  const seconds = Math.max(0, before - now, now - after) / 1000;
  const text = `this machine and Postgres differ by ${seconds.toFixed(1)} s`;
  return [seconds > maxSkewSeconds ? fail('clock', text, section('clocks-that-differ')) : ok('clock', text)];
}

async function migrations(read: Read): Promise<Finding[]> {
  const [table] = await read<{ there: boolean }>("SELECT to_regclass('public.migration') IS NOT NULL AS there");
  if (!table?.there) return [fail('migrations', 'the database is empty: run `natter migrate`')];
  // A database that only the previous release migrated has no checksums.
  const rows = await read<{ name: string; checksum: string | null }>(
    "SELECT name, to_jsonb(m)->>'checksum' AS checksum FROM public.migration m",
  );
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const migrations = await readMigrations();
  const known = migrations.map(({ name }) => name);
  const missing = known.filter((name) => !applied.has(name));
  const newer = [...applied.keys()].filter((name) => !known.includes(name));
  const changed = migrations.filter(({ name, checksum }) => (applied.get(name) ?? checksum) !== checksum);
  if (changed.length > 0)
    return [fail('migrations', `changed after they were applied: ${changed.map(({ name }) => name).join(', ')}`)];
  if (missing.length > 0) return [fail('migrations', `missing: ${missing.join(', ')}: run \`natter migrate\``)];
  if (newer.length > 0) return [warn('migrations', `of a newer version than this command: ${newer.join(', ')}`)];
  return [ok('migrations', `all ${known.length} applied`)];
}

async function partitions(read: Read): Promise<Finding[]> {
  const [row] = await read<{ days: number }>(`
    SELECT count(*)::int AS days FROM generate_series(0, 1) i
    WHERE to_regclass('log.event_' || to_char((now() AT TIME ZONE 'UTC')::date + i, 'YYYYMMDD')) IS NOT NULL`);
  return row?.days === 2
    ? [ok('partitions', "the log has today's and tomorrow's")]
    : [fail('partitions', 'the log has none for today or tomorrow: is event-queue running?')];
}

async function consumers(read: Read, maxLagSeconds: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const schema of serviceSchemas) {
    for (const { name, lag, parked } of await read<{ name: string; lag: number; parked: number }>(`
      SELECT c.name, coalesce(extract(epoch FROM now() - min(e.created_at)), 0)::float8 AS lag,
        (SELECT count(*)::int FROM ${schema}.parked_event p WHERE p.name = c.name) AS parked
      FROM ${schema}.consumer c LEFT JOIN log.event e ON e.realm_id = c.realm_id AND e.number = c.position + 1 GROUP BY c.name ORDER BY c.name`)) {
      const subject = `consumer ${schema}.${name}`;
      findings.push(
        lag > maxLagSeconds
          ? fail(subject, `${Math.round(lag)} s behind in a realm`, runbook('NatterConsumerLagging'))
          : ok(subject, 'keeps up'),
      );
      if (parked > 0)
        findings.push(
          fail(subject, `${parked} events are parked: see \`natter parked list\``, runbook('NatterEventParked')),
        );
    }
  }
  return findings;
}
