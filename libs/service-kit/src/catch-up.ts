import { type Consumer, createBatcher, type Database, pause, sql } from '@natter/database';
import { z } from 'zod';

/**
 * Waits until this service's projections include everything committed in the realm before the call, so that a client
 * sees each acknowledged change in its next request to any service. Gives up after three seconds, because an old answer
 * is better than none; then `isComplete` is false, and the caller must not refuse for what the projections lack. The
 * result also shows whether a version in `expected` is outdated, and contains the realm's version. `reader`: the user that
 * the request reads for, or `all`. A service then also waits for messages that follow from the commits and that the
 * reader may find.
 */
export type CatchUp = (
  realmId: number,
  expected?: Record<string, number>,
  reader?: number | 'all',
) => Promise<{ isStale: boolean; realmVersion: number | undefined; isComplete: boolean }>;

const usualWaitMs = 3_000;
const stepMs = 2;
const lookAgainMs = 20;
const glanceRow = z.object({ number: z.number(), found: z.boolean(), versions: z.record(z.string(), z.number()) });
const behindRow = z.object({ number: z.number(), behind: z.array(z.string()) });

/**
 * Concurrent requests of a realm share one query, which never starts before the requests that it serves. No realm waits
 * for the query of another one.
 */
function createSharedQuery<Q, A>(query: (realmId: number, asked: Q[]) => Promise<A>) {
  const realms = new Map<number, { requests: number; ask: (asked: Q) => Promise<A> }>();
  const queriesOf = (realmId: number) =>
    createBatcher(async (asked: Q[]) => {
      const answer = await query(realmId, asked);
      return asked.map(() => answer);
    });
  return async (realmId: number, asked: Q): Promise<A> => {
    const realm = realms.get(realmId) ?? { requests: 0, ask: queriesOf(realmId) };
    realms.set(realmId, realm);
    realm.requests++;
    try {
      return await realm.ask(asked);
    } finally {
      if (--realm.requests === 0) realms.delete(realmId);
    }
  };
}

/** `waitMs`: the longest wait of a call. */
export function createCatchUp(
  database: Database,
  schema: string,
  consumers: () => readonly Consumer[],
  waitMs = usualWaitMs,
): CatchUp {
  const table = sql.identifier([schema, 'consumer']);
  const glance = createSharedQuery((realmId, asked: string[][]) => glanceAt(realmId, [...new Set(asked.flat())]));
  const firstLook = createSharedQuery((realmId) => look(realmId));
  const laterLook = createSharedQuery((realmId, targets: number[]) => look(realmId, Math.max(...targets)));

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
    const quick = await glance(realmId, [...Object.keys(expected), 'realm']);
    const realmVersion = quick.versions.realm;
    const isStale = Object.entries(expected).some(([key, version]) => quick.versions[key] !== version);
    if (!quick.found) {
      for (const consumer of all) consumer.sawNothing(realmId, quick.number);
      return { isStale, realmVersion, isComplete: true };
    }
    const { number: target, behind } = await firstLook(realmId, undefined);
    const late = all.filter(({ name }) => behind.includes(name));
    const end = performance.now() + waitMs;
    // Events applied by this process are known here; those applied by another process are only visible in the table.
    for (let nextLook = performance.now() + lookAgainMs; ; ) {
      const isComplete = late.every((consumer) => consumer.through(realmId) >= target);
      if (isComplete || performance.now() > end) return { isStale, realmVersion, isComplete };
      await pause(stepMs);
      if (performance.now() < nextLook) continue;
      await laterLook(realmId, target);
      nextLook = performance.now() + lookAgainMs;
    }
  };
}
