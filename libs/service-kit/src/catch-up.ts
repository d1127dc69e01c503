import { type Consumer, createBatcher, type Database, sql } from '@natter/database';
import { z } from 'zod';

/**
 * Waits until this service's projections include everything committed in the realm before the call, so that a client
 * sees each acknowledged change in its next request to any service. Gives up after three seconds, because an old answer
 * is better than none; then the result is not `complete`. The result also says whether a version in `expected` is
 * outdated, and contains the realm's version. `reader`: the user that the request reads for, or `all`. A service then
 * also waits for messages that follow from the commits and that the reader may find.
 */
export type CatchUp = (
  realmId: number,
  expected?: Record<string, number>,
  reader?: number | 'all',
) => Promise<{ isStale: boolean; realmVersion: number | undefined; isComplete: boolean }>;

const waitMs = 3_000;
const stepMs = 2;
const lookAgainMs = 20;
const glanceRow = z.object({ number: z.number(), found: z.boolean(), versions: z.record(z.string(), z.number()) });
const behindRow = z.object({ number: z.number(), behind: z.array(z.string()) });

export function createCatchUp(database: Database, schema: string, consumers: () => readonly Consumer[]): CatchUp {
  const table = sql.identifier([schema, 'consumer']);
  /** Concurrent requests of a realm share one query. A query never starts before the requests that it serves. */
  const glance = createBatcher(async (asked: { realmId: number; keys: string[] }[]) => {
    const keysOf = new Map<number, Set<string>>();
    for (const { realmId, keys } of asked) keysOf.set(realmId, new Set([...(keysOf.get(realmId) ?? []), ...keys]));
    const seen = await Promise.all(
      [...keysOf].map(async ([realmId, keys]) => [realmId, await glanceAt(realmId, [...keys])] as const),
    );
    const byRealm = new Map(seen);
    return asked.map(({ realmId }) => byRealm.get(realmId) as z.infer<typeof glanceRow>);
  });

  const firstLook = createBatcher(async (asked: { realmId: number }[]) => {
    const realmIds = [...new Set(asked.map(({ realmId }) => realmId))];
    const seen = new Map(await Promise.all(realmIds.map(async (id) => [id, await look(id)] as const)));
    return asked.map(({ realmId }) => seen.get(realmId) as z.infer<typeof behindRow>);
  });

  /** Whether there are new events for any consumer, as far as this process has read; usually there are none. */
  function glanceAt(realmId: number, keys: string[]) {
    const all = consumers();
    const types = [...new Set(all.flatMap((consumer) => consumer.types))];
    const through = Math.min(...all.map((consumer) => consumer.through(realmId)));
    const found =
      all.length === 0
        ? sql.fragment`false`
        : sql.fragment`EXISTS (SELECT FROM log.read_types(${realmId}, ${through}, p.number, ${sql.array(types, 'text')}, 1))`;
    return database.one(sql.type(glanceRow)`
      SELECT p.number, ${found} AS found,
        coalesce((SELECT json_object_agg(v.key, v.version) FROM log.versions(${realmId}, ${sql.array(keys, 'text')}) v), '{}') AS versions
      FROM log.position(${realmId}) p`);
  }

  /** Consumers whose stored position is behind `target`, by default the end of the log. Wakes them. */
  async function look(realmId: number, target?: number): Promise<z.infer<typeof behindRow>> {
    const all = consumers();
    const looks = all.map(({ name, types, through }) => ({ name, types, through: through(realmId) }));
    const seen = await database.one(sql.type(behindRow)`
      SELECT p.number, ARRAY(
        SELECT l.name FROM jsonb_to_recordset(${JSON.stringify(looks)}) AS l (name text, through bigint, types jsonb)
        WHERE EXISTS (SELECT FROM log.read_types(${realmId},
          greatest(l.through, coalesce((SELECT position FROM ${table} WHERE realm_id = ${realmId} AND name = l.name), 0)),
          p.number, ARRAY(SELECT jsonb_array_elements_text(l.types)), 1))) AS behind
      FROM (SELECT coalesce(${target ?? null}::bigint, (SELECT number FROM log.position(${realmId}))) AS number) p`);
    for (const consumer of all)
      if (seen.behind.includes(consumer.name)) consumer.hint(realmId, true);
      else consumer.sawNothing(realmId, seen.number);
    return seen;
  }

  return async (realmId, expected = {}) => {
    const all = consumers();
    const quick = await glance({ realmId, keys: [...Object.keys(expected), 'realm'] });
    const realmVersion = quick.versions.realm;
    const isStale = Object.entries(expected).some(([key, version]) => quick.versions[key] !== version);
    if (!quick.found) {
      for (const consumer of all) consumer.sawNothing(realmId, quick.number);
      return { isStale, realmVersion, isComplete: true };
    }
    const { number: target, behind } = await firstLook({ realmId });
    const late = all.filter(({ name }) => behind.includes(name));
    const end = performance.now() + waitMs;
    // Events applied by this process are known here; those applied by another process are only visible in the table.
    for (let nextLook = performance.now() + lookAgainMs; ; ) {
      const isComplete = late.every((consumer) => consumer.through(realmId) >= target);
      if (isComplete || performance.now() > end) return { isStale, realmVersion, isComplete };
      await new Promise((resolve) => setTimeout(resolve, stepMs));
      if (performance.now() < nextLook) continue;
      await look(realmId, target);
      nextLook = performance.now() + lookAgainMs;
    }
  };
}
