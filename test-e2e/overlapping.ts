import { connected } from '@natter/testkit';
import { expect } from 'vitest';

type Requests<R> = readonly (() => Promise<R>)[];

/**
 * Runs requests to messaging whose transactions overlap: each starts when the one before it waits for the clock of the
 * realm, in front of its commit, or for a request that does. Then they commit. A wait that takes too long is ended and
 * begins again behind the others, so on a busy machine everything is prepared and run again.
 */
export async function overlapping<R>(realmId: number, prepare: () => Promise<Requests<R>>): Promise<R[]> {
  for (;;) {
    const answers = await inOrder(realmId, await prepare());
    if (answers) return answers;
  }
}

/** Undefined if the order is not certain. */
const inOrder = <R>(realmId: number, requests: Requests<R>): Promise<R[] | undefined> =>
  connected((clock) =>
    connected(async (other) => {
      await clock.query('BEGIN');
      const { rows } = await clock.query<{ pid: number }>(
        'SELECT pg_backend_pid() AS pid FROM log.clock WHERE realm_id = $1 FOR UPDATE',
        [realmId],
      );
      /** The waiting statements: the process of each, and when it began. */
      const waiting = async (): Promise<string[]> =>
        (
          await other.query<{ statement: string }>(
            `WITH waits AS (SELECT pid, query_start, pg_blocking_pids(pid) AS by FROM pg_stat_activity WHERE usename = 'natter_messaging'),
               next AS (SELECT pid, query_start FROM waits WHERE $1 = ANY (by))
             SELECT pid || ' ' || query_start AS statement FROM (
               SELECT pid, query_start FROM next UNION SELECT w.pid, w.query_start FROM waits w, next WHERE next.pid = ANY (w.by)) s`,
            [rows[0]?.pid],
          )
        ).rows.map(({ statement }) => statement);
      const started: Promise<R>[] = [];
      const begun = new Set<string>();
      let isInOrder = false;
      try {
        for (const request of requests) {
          started.push(request());
          await expect.poll(async () => (await waiting()).length).toBe(started.length);
          for (const statement of await waiting()) begun.add(statement);
        }
        isInOrder = begun.size === requests.length && (await waiting()).every((statement) => begun.has(statement));
      } finally {
        await clock.query('ROLLBACK');
      }
      const answers = await Promise.all(started);
      return isInOrder ? answers : undefined;
    }),
  );
