import { type Database, sql } from '@natter/database';
import type { Logger } from '@natter/service-kit';
import { latestKnown, type Presence } from './hot-state.ts';
import { newerTimes } from './record-state.ts';

export interface WriteBehind {
  stored(realmId: number, presence: Presence): void;
  input(realmId: number, userId: number): void;
  stop(): Promise<void>;
}

const flushMs = 1_000;
const batchSize = 1_000;
/** Users whose state or inputs wait while Postgres refuses them. The data of further users is lost. */
const maxKept = 200_000;

/**
 * Writes the state in Redis to Postgres, a batch each second. If a process is killed before that, the next post of each
 * user writes it. `nowMs`: milliseconds of the clock that all processes share.
 */
export function startWriteBehind(database: Database, log: Logger, nowMs: () => number): WriteBehind {
  let waiting = new Map<string, { realmId: number; presence: Presence }>();
  let inputs = new Map<string, { realmId: number; userId: number; count: number }>();
  let isStopped = false;
  let wake: () => void = () => undefined;
  const loop = (async () => {
    while (!isStopped) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, flushMs * (0.8 + Math.random() * 0.4));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      await flush().catch((error: unknown) => log.warn({ err: error }, 'writing presence to Postgres failed'));
    }
  })();

  async function flush(): Promise<void> {
    const rows = [...waiting.values()];
    const used = [...inputs.values()];
    waiting = new Map();
    inputs = new Map();
    let counted = 0;
    try {
      for (let from = 0; from < rows.length; from += batchSize) await write(rows.slice(from, from + batchSize));
      for (; counted < used.length; counted += batchSize) await writeInputs(used.slice(counted, counted + batchSize));
    } catch (error) {
      // Skips users for whom a newer state arrived meanwhile.
      for (const row of rows) if (!waiting.has(keyOf(row.realmId, row.presence.userId))) keep(row);
      for (const one of used.slice(counted)) count(one);
      throw error;
    }
  }

  function keep(row: { realmId: number; presence: Presence }): void {
    const key = keyOf(row.realmId, row.presence.userId);
    if (waiting.size < maxKept || waiting.has(key)) waiting.set(key, row);
  }

  function count(one: { realmId: number; userId: number; count: number }): void {
    const key = keyOf(one.realmId, one.userId);
    const known = inputs.get(key);
    if (known) known.count += one.count;
    else if (inputs.size < maxKept) inputs.set(key, { ...one });
  }

  const write = (rows: { realmId: number; presence: Presence }[]): Promise<number> =>
    database.run(sql.unsafe`
      INSERT INTO presence.presence AS p (realm_id, user_id, active_at, connected_at, update_id)
      SELECT * FROM ${sql.unnest(
        rows.map(({ realmId, presence }) => [
          realmId,
          presence.userId,
          presence.activeAt,
          presence.connectedAt,
          presence.updateId,
        ]),
        ['int4', 'int4', 'int8', 'int8', 'int8'],
      )} AS r (realm_id, user_id, active_at, connected_at, update_id)
      ORDER BY 1, 2
      ON CONFLICT (realm_id, user_id) DO UPDATE SET ${newerTimes(latestKnown(nowMs))},
        update_id = greatest(p.update_id, excluded.update_id)`);

  const writeInputs = (used: { realmId: number; userId: number; count: number }[]): Promise<number> =>
    database.run(sql.unsafe`
      INSERT INTO presence.active_day AS d (realm_id, user_id, day, inputs)
      SELECT r.realm_id, r.user_id, (now() AT TIME ZONE 'UTC')::date, r.inputs
      FROM ${sql.unnest(
        used.map((one) => [one.realmId, one.userId, one.count]),
        ['int4', 'int4', 'int4'],
      )} AS r (realm_id, user_id, inputs)
      ORDER BY 1, 2
      ON CONFLICT (realm_id, user_id, day) DO UPDATE SET inputs = d.inputs + excluded.inputs`);

  return {
    stored: (realmId, presence) => keep({ realmId, presence }),
    input: (realmId, userId) => count({ realmId, userId, count: 1 }),
    stop: async () => {
      isStopped = true;
      wake();
      await loop;
      await flush().catch(() => undefined);
    },
  };
}

const keyOf = (realmId: number, userId: number): string => `${realmId} ${userId}`;
