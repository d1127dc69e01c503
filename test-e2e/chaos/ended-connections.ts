import type pg from 'pg';

/** Ends random connections of services, those at work first. */
export async function endConnections(admin: pg.Client, ms: number): Promise<void> {
  const ending = `SELECT pg_terminate_backend(pid) FROM (
    SELECT pid FROM pg_stat_activity WHERE usename LIKE 'natter\\_%' ORDER BY state = 'idle', random() LIMIT 2) chosen`;
  for (const end = Date.now() + ms; Date.now() < end; ) {
    await admin.query(ending);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
