import { type LockName, lockOf } from '@natter/contracts';
import { connected } from '@natter/testkit';
import type pg from 'pg';
import { expect } from 'vitest';

/** Rows that a test locks: what follows FROM, and its parameters. */
interface Rows {
  rows: string;
  values: readonly unknown[];
}

/** An advisory lock, for the same uses as rows. */
export const lockRows = (name: LockName, key: number): Rows => ({
  rows: 'pg_advisory_xact_lock($1, $2)',
  values: [lockOf(name).number, key],
});

/** Locks rows until the client ends the transaction. Returns the process that holds them. */
export async function holdRows(client: pg.Client, { rows, values }: Rows): Promise<number> {
  await client.query('BEGIN');
  const held = await client.query<{ pid: number }>(`SELECT pg_backend_pid() AS pid FROM ${rows}`, [...values]);
  expect(held.rowCount).toBeGreaterThan(0);
  return held.rows[0]?.pid ?? 0;
}

type Service = 'users' | 'channels' | 'messaging';

/** How many transactions of these services wait for this process, or for one that waits for it. */
export async function waitingFor(
  observer: pg.Client,
  pid: number,
  services: readonly Service[] = ['users', 'channels'],
): Promise<number> {
  const { rows } = await observer.query(
    `WITH RECURSIVE waits AS (
       SELECT pid, pg_blocking_pids(pid) AS by FROM pg_stat_activity WHERE usename = ANY ($2)),
     found AS (
       SELECT pid FROM waits WHERE $1 = ANY (by)
       UNION SELECT w.pid FROM waits w, found WHERE found.pid = ANY (w.by))
     SELECT pid FROM found`,
    [pid, services.map((service) => `natter_${service}`)],
  );
  return rows.length;
}

/**
 * Begins requests while rows are locked, each when those before it wait in their transactions. Then calls `meanwhile`, and lets
 * them go on.
 */
export const behindRows = <R>(
  { services, ...held }: Rows & { services?: readonly Service[] },
  requests: readonly (() => Promise<R>)[],
  meanwhile?: (observer: pg.Client) => Promise<unknown>,
): Promise<R[]> =>
  connected((holder) =>
    connected(async (observer) => {
      const pid = await holdRows(holder, held);
      const begun: Promise<R>[] = [];
      try {
        for (const request of requests) {
          const before = await waitingFor(observer, pid, services);
          let hasEnded = false;
          const answer = request().finally(() => {
            hasEnded = true;
          });
          // The error of the answer is thrown below. Without a handler until then, it would end the test run.
          answer.catch(() => undefined);
          begun.push(answer);
          await expect.poll(async () => hasEnded || (await waitingFor(observer, pid, services)) > before).toBe(true);
          if (hasEnded) expect.fail(`the request ended without a wait for the rows: ${JSON.stringify(await answer)}`);
        }
        await meanwhile?.(observer);
      } finally {
        await holder.query('ROLLBACK');
        // Requests that still run would change rows under the tests that follow.
        await Promise.allSettled(begun);
      }
      return Promise.all(begun);
    }),
  );
