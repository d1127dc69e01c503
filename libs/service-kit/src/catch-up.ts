import { type Consumer, type Database, sql } from '@natter/database';
import { z } from 'zod';

/**
 * Waits until this service's copies hold all that was committed in the realm before the call: what a client was told is done
 * is seen by whatever it asks next, of whichever service. Gives up waiting after a second, since an old answer is better than
 * none. Tells whether there was anything to wait for, and whether a version of `basis` is no longer true.
 */
export type CatchUp = (
  realmId: number,
  basis?: Record<string, number>,
) => Promise<{ hasWaited: boolean; isStale: boolean }>;

const waitMs = 1_000;
const answerRow = z.object({ number: z.number(), behind: z.array(z.string()), is_stale: z.boolean() });

export function createCatchUp(database: Database, schema: string, consumers: () => readonly Consumer[]): CatchUp {
  const table = sql.identifier([schema, 'consumer']);
  return async (realmId, basis = {}) => {
    const all = consumers();
    if (all.length === 0 && Object.keys(basis).length === 0) return { hasWaited: false, isStale: false };
    let target: number | undefined;
    let hasWaited = false;
    for (const end = Date.now() + waitMs; ; ) {
      const looks = all.map(({ name, types, through }) => ({ name, types, through: through(realmId) }));
      const { number, behind, is_stale } = await database.one(sql.type(answerRow)`
        SELECT p.number, ARRAY(
          SELECT l.name FROM jsonb_to_recordset(${JSON.stringify(looks)}) AS l (name text, through bigint, types jsonb)
          WHERE EXISTS (SELECT FROM log.read_types(${realmId},
            greatest(l.through, coalesce((SELECT position FROM ${table} WHERE realm_id = ${realmId} AND name = l.name), 0)),
            p.number, ARRAY(SELECT jsonb_array_elements_text(l.types)), 1))) AS behind,
          EXISTS (SELECT FROM log.versions(${realmId}, ${sql.array(Object.keys(basis), 'text')}) v
            WHERE v.version <> (${JSON.stringify(basis)}::jsonb ->> v.key)::int) AS is_stale
        FROM (SELECT coalesce(${target ?? null}::bigint, (SELECT number FROM log.position(${realmId}))) AS number) p`);
      for (const consumer of all)
        if (behind.includes(consumer.name)) consumer.hint(realmId, true);
        else consumer.sawNothing(realmId, number);
      if (behind.length === 0 || Date.now() > end) return { hasWaited, isStale: is_stale };
      target ??= number;
      hasWaited = true;
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
  };
}
