import { sqlState } from '@natter/database';
import { type Finding, fail, ok, section } from './finding.ts';
import { connectPostgres } from './postgres.ts';

const diskFull = '53100';
const readOnly = '25006';
const rowsPerMebibyte = 128;

/**
 * Whether Postgres can still store something. It reports no free space, so this many MiB are written to a temporary
 * table, which is dropped at once and not written to the WAL.
 */
export async function checkSpace(mebibytes: number): Promise<Finding[]> {
  const subject = 'space of Postgres';
  const page = section('disks-that-are-full');
  const client = await connectPostgres({ query_timeout: 60_000 });
  try {
    await client.query('BEGIN');
    await client.query('CREATE TEMP TABLE natter_doctor_space (filler text) ON COMMIT DROP');
    await client.query('ALTER TABLE natter_doctor_space ALTER COLUMN filler SET STORAGE PLAIN');
    // A row fills a page of 8 KiB.
    await client.query("INSERT INTO natter_doctor_space SELECT repeat('x', 8000) FROM generate_series(1, $1)", [
      mebibytes * rowsPerMebibyte,
    ]);
    await client.query('ROLLBACK');
    return [ok(subject, `${mebibytes} MiB could be written`)];
  } catch (error) {
    if (sqlState(error) === diskFull) return [fail(subject, `less than ${mebibytes} MiB are free`, page)];
    if (sqlState(error) === readOnly) return [fail(subject, 'it is read-only and refuses writes', page)];
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
