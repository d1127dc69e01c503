import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../harness/bench.ts';

/** The work of Postgres by its own counters: statements differ if any of these does. */
export interface PostgresWork {
  transactions: number;
  rowsWritten: number;
  indexScans: number;
  tableScans: number;
  /** All WAL, including full pages. */
  walBytes: number;
}

/** Backends report their counters about once a second. */
const reportingMs = 1_500;

export async function postgresWork(bench: Bench): Promise<PostgresWork> {
  await sleep(reportingMs);
  const [row] = await bench.sql<Record<keyof PostgresWork, string>>(`
    SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS transactions,
      sum(n_tup_ins + n_tup_upd + n_tup_del) AS "rowsWritten", sum(coalesce(idx_scan, 0)) AS "indexScans", sum(seq_scan) AS "tableScans",
      (SELECT wal_bytes FROM pg_stat_wal) AS "walBytes"
    FROM pg_stat_user_tables`);
  return {
    transactions: Number(row?.transactions ?? 0),
    rowsWritten: Number(row?.rowsWritten ?? 0),
    indexScans: Number(row?.indexScans ?? 0),
    tableScans: Number(row?.tableScans ?? 0),
    walBytes: Number(row?.walBytes ?? 0),
  };
}

export const perUnit = (after: PostgresWork, before: PostgresWork, units: number): PostgresWork => ({
  transactions: (after.transactions - before.transactions) / units,
  rowsWritten: (after.rowsWritten - before.rowsWritten) / units,
  indexScans: (after.indexScans - before.indexScans) / units,
  tableScans: (after.tableScans - before.tableScans) / units,
  walBytes: (after.walBytes - before.walBytes) / units,
});
