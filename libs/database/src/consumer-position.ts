import type { LogEvent, Predecessor } from '@natter/contracts';
import { z } from 'zod';
import { type Database, type Executor, sql } from './database.ts';
import { serverNow } from './server-run.ts';
import type { Work } from './work.ts';

const claimRow = z.object({
  position: z.number(),
  number: z.number(),
  end_number: z.number().optional(),
  dropped: z.number(),
  events: z.array(z.object({ number: z.number(), event: z.custom<LogEvent>() })),
  is_full: z.boolean(),
});
/**
 * Events after a position. `number`: the number up to which they may be handled now. `end_number`: the end of the log, if the
 * consumer has predecessors. `events`: those that only clients need have no content. `is_full`: more events may follow.
 */
export type Claim = z.infer<typeof claimRow>;
const triedRow = z.object({ number: z.number(), tries: z.number() });
const behindRow = z.object({
  server: z.string(),
  behind: z
    .array(z.object({ realm_id: z.number(), number: z.number(), is_new: z.boolean(), found: z.boolean() }))
    .nullable(),
});

export interface ConsumerPosition {
  /** Locks the position against other processes, and reads the events after it; undefined if another process holds it. */
  claim(work: Work, limit: number): Promise<Claim | undefined>;
  /**
   * Stores that this process tries the first event after the position, and counts the processes that tried it. Processes that
   * try it within two seconds count as one. Undefined if no event waits, or another process holds the position.
   */
  countTry(realmId: number): Promise<{ number: number; tries: number } | undefined>;
  /** Call it if the handler failed and the process still runs: then the try does not count. */
  forgetTries(realmId: number): Promise<void>;
  /** Advances the position in the transaction that stores the effects of the events, and resets the count of tries. */
  advance(work: Work, through: number): void;
  /** Call it after a transaction that found the position of the realm, or created it. */
  exists(realmId: number): void;
  /** Call it after a transaction that advanced the position to this number. */
  advanced(realmId: number, through: number): void;
  /** The number up to which this process has found no waiting events. */
  through(realmId: number): number;
  sawNothing(realmId: number, number: number): void;
  /** Realms that have waiting events, or no position of this consumer yet. One query finds all since the last call. */
  realmsBehind(): Promise<number[]>;
  /** Stores, once in some seconds, the positions that advanced over events without a handler. */
  storeOccasionally(): Promise<void>;
}

const storeEveryMs = 10_000;
/** A claim reads no further event after this size. */
const maxClaimBytes = 1024 * 1024;

/**
 * The position of a consumer in each realm. The stored position advances in the transaction that stores the effects of events.
 * Over events without a handler, this process advances its own position in memory, and stores it later for all realms in one
 * step. When Postgres is another server, or was restarted, the positions in memory are dropped: after a failover that lost
 * events, other events have their numbers.
 */
export function createConsumerPosition(
  database: Database,
  schema: string,
  name: string,
  { types: typeNames, after }: { types: readonly string[]; after: readonly Predecessor[] },
): ConsumerPosition {
  const table = sql.identifier([schema, 'consumer']);
  const types = sql.array([...typeNames], 'text');
  const waitsFor = after.length === 0 ? undefined : JSON.stringify(after);
  /** For each realm, the number up to which no event with a handler waits. */
  const looked = new Map<number, number>();
  /** The numbers of `looked` that are not stored yet. */
  const unstored = new Map<number, number>();
  /** Realms where this consumer has a position. */
  const begun = new Set<number>();
  let storedAt = performance.now();
  let server: string | undefined;

  const readBehind = () =>
    database.one(sql.type(behindRow)`
      SELECT ${serverNow} AS server, (SELECT json_agg(b ORDER BY b.realm_id) FROM (
        SELECT r.realm_id, r.number, c.position IS NULL AS is_new, EXISTS (SELECT FROM log.read_types(
          r.realm_id, greatest(coalesce(c.position, 0), coalesce(k.through, 0)), r.number, ${types}, 1)) AS found
        FROM log.realms(NULL) r LEFT JOIN ${table} c ON c.realm_id = r.realm_id AND c.name = ${name}
        LEFT JOIN ${sql.unnest([...unstored], ['int4', 'int8'])} AS k (realm_id, through) ON k.realm_id = r.realm_id
        WHERE r.number > greatest(coalesce(c.position, 0), coalesce(k.through, 0))) b) AS behind`);

  function sawNothing(realmId: number, number: number): void {
    if (number <= (looked.get(realmId) ?? 0)) return;
    looked.set(realmId, number);
    unstored.set(realmId, number);
  }

  /** `number`: the end of the log, or the number before the first event that a predecessor has not handled. */
  const readable = (realmId: number) =>
    waitsFor === undefined
      ? sql.fragment`log.position(${realmId})`
      : sql.fragment`(
          SELECT q.number AS end_number, least(q.number, (
            SELECT min(e.number) - 1 FROM jsonb_to_recordset(${waitsFor}) AS k (name text, types text[]), log.read_types(${realmId},
              coalesce((SELECT c.position FROM ${table} c WHERE c.realm_id = ${realmId} AND c.name = k.name), 0), q.number, k.types, 1) e
          )) AS number FROM log.position(${realmId}) q)`;
  const endNumber = waitsFor === undefined ? sql.fragment`` : sql.fragment`p.end_number, `;

  const read = (work: Work, limit: number) =>
    work.maybeOne(sql.type(claimRow)`
      WITH mine AS (
        SELECT position FROM ${table} WHERE realm_id = ${work.realmId} AND name = ${name} FOR UPDATE SKIP LOCKED)
      SELECT mine.position, p.number, ${endNumber}log.dropped(${work.realmId}) AS dropped, r.events, r.is_full
      FROM mine, ${readable(work.realmId)} p, LATERAL (
        SELECT coalesce(json_agg(json_build_object('number', e.number, 'event', e.event) ORDER BY e.number), '[]') AS events,
          count(*) >= ${limit} OR coalesce(max(e.bytes), 0) >= ${maxClaimBytes} AS is_full
        FROM log.read_some_types(${work.realmId}, mine.position, p.number, ${types}, ${limit}, ${maxClaimBytes}) e) r`);

  const countTry = (realmId: number) =>
    database.maybeOne(sql.type(triedRow)`
      WITH mine AS (
        SELECT position FROM ${table} WHERE realm_id = ${realmId} AND name = ${name} FOR UPDATE SKIP LOCKED),
      first AS (
        SELECT e.number FROM mine, ${readable(realmId)} p, log.read_types(${realmId}, mine.position, p.number, ${types}, 1) e)
      UPDATE ${table} c SET tried_number = first.number, tried_at = clock_timestamp(), tries = CASE
        WHEN c.tried_number IS DISTINCT FROM first.number THEN 1
        WHEN c.tried_at > clock_timestamp() - interval '2 s' THEN c.tries ELSE c.tries + 1 END
      FROM first WHERE c.realm_id = ${realmId} AND c.name = ${name} RETURNING first.number, c.tries`);
  /** Stored apart from the effect of the first event, which may end the process. */
  const insertBeginning = (executor: Executor, realmId: number) =>
    executor.run(
      sql.unsafe`INSERT INTO ${table} (realm_id, name, position) VALUES (${realmId}, ${name}, 0) ON CONFLICT DO NOTHING`,
    );

  async function begin(work: Work, limit: number): Promise<Claim | undefined> {
    return (await insertBeginning(work, work.realmId)) === 1 ? read(work, limit) : undefined;
  }

  return {
    claim: async (work, limit) =>
      (await read(work, limit)) ?? (begun.has(work.realmId) ? undefined : await begin(work, limit)),
    countTry: async (realmId) => {
      const tried = await countTry(realmId);
      if (tried || begun.has(realmId) || (await insertBeginning(database, realmId)) === 0) return tried;
      return await countTry(realmId);
    },
    forgetTries: async (realmId) => {
      await database.run(
        sql.unsafe`UPDATE ${table} SET tries = 0 WHERE realm_id = ${realmId} AND name = ${name} AND tries > 0`,
      );
    },
    advance: (work, through) =>
      work.numbered(
        sql.unsafe`UPDATE ${table} SET position = ${through}, tries = 0 WHERE realm_id = ${work.realmId} AND name = ${name}`,
      ),
    exists: (realmId) => void begun.add(realmId),
    advanced: (realmId, through) => {
      looked.set(realmId, through);
      unstored.delete(realmId);
    },
    through: (realmId) => looked.get(realmId) ?? 0,
    sawNothing,
    realmsBehind: async () => {
      let seen = await readBehind();
      if (seen.server !== server) {
        server = seen.server;
        looked.clear();
        unstored.clear();
        seen = await readBehind();
      }
      const rows = seen.behind ?? [];
      for (const row of rows)
        if (row.is_new) begun.delete(row.realm_id);
        else if (!row.found) sawNothing(row.realm_id, row.number);
      return rows.filter((row) => row.is_new || row.found).map((row) => row.realm_id);
    },
    storeOccasionally: async () => {
      const all = [...unstored];
      if (performance.now() - storedAt <= storeEveryMs) return;
      storedAt = performance.now();
      if (all.length === 0) return;
      // A row that another process has locked is stored next time.
      await database.run(sql.unsafe`
        WITH mine AS (
          SELECT c.realm_id, k.through FROM ${table} c
          JOIN ${sql.unnest(all, ['int4', 'int8'])} AS k (realm_id, through) ON k.realm_id = c.realm_id
          WHERE c.name = ${name} AND c.position < k.through AND ${serverNow} = ${server ?? ''} ORDER BY c.realm_id FOR UPDATE OF c SKIP LOCKED)
        UPDATE ${table} c SET position = mine.through FROM mine WHERE c.realm_id = mine.realm_id AND c.name = ${name}`);
      for (const [realmId, number] of all) if (unstored.get(realmId) === number) unstored.delete(realmId);
    },
  };
}
