import { connected } from '@natter/testkit';
import { expect } from 'vitest';

/**
 * Runs requests to messaging whose transactions overlap: each starts when the one before it waits for the clock of the
 * realm, in front of its commit, or for a request that does. Then they commit.
 */
export const overlapping = <R>(realmId: number, requests: readonly (() => Promise<R>)[]): Promise<R[]> =>
  connected((clock) =>
    connected(async (other) => {
      await clock.query('BEGIN');
      const { rows } = await clock.query<{ pid: number }>(
        'SELECT pg_backend_pid() AS pid FROM log.clock WHERE realm_id = $1 FOR UPDATE',
        [realmId],
      );
      const waiting = async (): Promise<number | null> =>
        (
          await other.query(
            `WITH waits AS (SELECT pid, pg_blocking_pids(pid) AS by FROM pg_stat_activity WHERE usename = 'natter_messaging'),
               next AS (SELECT pid FROM waits WHERE $1 = ANY (by))
             SELECT pid FROM next UNION SELECT w.pid FROM waits w, next WHERE next.pid = ANY (w.by)`,
            [rows[0]?.pid],
          )
        ).rowCount;
      const started: Promise<R>[] = [];
      try {
        for (const request of requests) {
          started.push(request());
          await expect.poll(waiting).toBe(started.length);
        }
      } finally {
        await clock.query('ROLLBACK');
      }
      return Promise.all(started);
    }),
  );
