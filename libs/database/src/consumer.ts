import type { LogEvent } from '@natter/contracts';
import { z } from 'zod';
import { type Database, sql } from './database.ts';
import { createFailingRealms } from './failing-realms.ts';
import { createParkedEvents } from './parked-events.ts';
import type { UnitOfWork, Work } from './unit-of-work.ts';

export interface ConsumedEvent {
  number: number;
  source: string;
  event: LogEvent;
}

export interface ConsumerOptions {
  schema: string;
  name: string;
  /** Types it acts on; all others only move its position. */
  types: readonly string[];
  handle: (work: Work, event: ConsumedEvent) => Promise<void>;
  /** Most events in one transaction; fewer where others wait for what it holds. */
  batchSize?: number | undefined;
  /** After the last event that a transaction takes: for what is cheaper done for many at once. */
  finish?: ((work: Work) => Promise<void>) | undefined;
  /** Hints that come within this time are one look; longer where many come and nobody waits. Milliseconds. */
  gatherMs?: number | undefined;
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

export interface Consumer {
  readonly name: string;
  readonly types: readonly string[];
  /** How long a realm has been failing, at most; in seconds. */
  failingSeconds(): number;
  /** Up to this number nothing is waiting, as far as this process has looked. */
  through(realmId: number): number;
  /** Somebody looked: nothing is waiting up to this number. */
  sawNothing(realmId: number, number: number): void;
  /** Something may have happened in this realm; `isAwaited`: somebody waits for its effect. */
  hint(realmId: number, isAwaited?: boolean): void;
  stop(): Promise<void>;
}

const claimRow = z.object({
  position: z.number(),
  number: z.number(),
  dropped: z.number(),
  events: z.array(z.object({ number: z.number(), source: z.string(), event: z.any() })),
});
const behindRow = z.object({ realm_id: z.number(), number: z.number(), is_new: z.boolean(), found: z.boolean() });
const pollMs = 1_000;
/** Stands for a failure that is no realm's own. */
const everyRealm = 0;
const usualGatherMs = 15;
const batchSize = 200;
const storeEveryMs = 10_000;
const reapplyEveryMs = 5_000;

/**
 * Follows the event table of every realm in order. The position moves in the transaction of the effect, so each event
 * takes effect once, whatever is killed. Over events that nobody here acts on it moves now and then, for all realms in one
 * step. An event that causes three failures is parked and passed; any other failure is retried for as long as it lasts.
 */
export function startConsumer(database: Database, unitOfWork: UnitOfWork, options: ConsumerOptions): Consumer {
  const table = sql.identifier([options.schema, 'consumer']);
  const types = sql.array([...options.types], 'text');
  const hinted = new Set<number>();
  /** Per realm: up to here nothing is waiting for us. */
  const looked = new Map<number, number>();
  /** Those of them that are not stored yet. */
  const unstored = new Map<number, number>();
  let storedAt = Date.now();
  let polledAt = 0;
  /** Realms where this consumer has a position. */
  const begun = new Set<number>();
  /** Until a failure is past, events of the realm are taken one by one. */
  const failing = createFailingRealms();
  const parked = createParkedEvents(database, unitOfWork, options);
  let reappliedAt = Date.now();
  let stopped = false;
  const gatherMs = options.gatherMs ?? usualGatherMs;
  let wake: (afterMs: number) => void = () => undefined;
  let isAwaitedNow = false;

  const loop = (async () => {
    while (!stopped) {
      const realms = new Set(hinted);
      hinted.clear();
      isAwaitedNow = false;
      try {
        // Also where hints never end: one that was lost is missed by nobody else.
        if (realms.size === 0 || Date.now() - polledAt > pollMs) {
          polledAt = Date.now();
          for (const realmId of await realmsBehind()) realms.add(realmId);
        }
        for (const realmId of realms) while (!stopped && failing.mayTry(realmId) && (await consumeSome(realmId)));
        failing.passed(everyRealm, 0);
        if (Date.now() - reappliedAt > reapplyEveryMs) await reapply();
        if (Date.now() - storedAt > storeEveryMs) await storePositions();
      } catch (error) {
        options.onError(error, { consumer: options.name });
        const { waitMs } = failing.failed(everyRealm, 0, error);
        await waitAfterFailure(waitMs);
      }
      if (stopped) return;
      await new Promise<void>((resolve) => {
        const usual = hinted.size > 0 ? gatherMs : pollMs * (0.8 + Math.random() * 0.4);
        let timer = setTimeout(resolve, isAwaitedNow ? 0 : usual);
        let isGathering = hinted.size > 0;
        wake = (afterMs) => {
          if (isGathering && afterMs > 0) return;
          isGathering = true;
          clearTimeout(timer);
          timer = setTimeout(resolve, afterMs);
        };
      });
      wake = () => undefined;
    }
  })();

  return {
    name: options.name,
    types: options.types,
    failingSeconds: failing.longestSeconds,
    through: (realmId) => looked.get(realmId) ?? 0,
    sawNothing,
    hint,
    stop: async () => {
      stopped = true;
      wake(0);
      await loop;
    },
  };

  function hint(realmId: number, isAwaited = false): void {
    if (isAwaited && !isAwaitedNow) {
      isAwaitedNow = true;
      hinted.add(realmId);
      wake(0);
      return;
    }
    if (hinted.has(realmId)) return;
    hinted.add(realmId);
    wake(gatherMs);
  }

  /** Ends early when the consumer stops. */
  function waitAfterFailure(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        if (!stopped) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function reapply(): Promise<void> {
    reappliedAt = Date.now();
    await parked.reapply(async (work, { number, source, event }) => {
      await options.handle(work, { number, source, event: event as LogEvent });
      await options.finish?.(work);
    });
  }

  function sawNothing(realmId: number, number: number): void {
    failing.passed(realmId, number);
    if (number <= (looked.get(realmId) ?? 0)) return;
    looked.set(realmId, number);
    unstored.set(realmId, number);
  }

  /** Realms where something is waiting, or that are new to this consumer. One look at all that moved since the last one. */
  async function realmsBehind(): Promise<number[]> {
    const rows = await database.any(sql.type(behindRow)`
      SELECT r.realm_id, r.number, c.position IS NULL AS is_new, EXISTS (SELECT FROM log.read_types(
        r.realm_id, greatest(coalesce(c.position, 0), coalesce(k.through, 0)), r.number, ${types}, 1)) AS found
      FROM log.realms(NULL) r LEFT JOIN ${table} c ON c.realm_id = r.realm_id AND c.name = ${options.name}
      LEFT JOIN ${sql.unnest([...unstored], ['int4', 'int8'])} AS k (realm_id, through) ON k.realm_id = r.realm_id
      WHERE r.number > greatest(coalesce(c.position, 0), coalesce(k.through, 0))`);
    for (const row of rows)
      if (row.is_new) begun.delete(row.realm_id);
      else if (!row.found) sawNothing(row.realm_id, row.number);
    return rows.filter((row) => row.is_new || row.found).map((row) => row.realm_id);
  }

  /** Positions may move over what nobody here acts on at any time. Whose row another process holds is stored next time. */
  async function storePositions(): Promise<void> {
    const all = [...unstored];
    storedAt = Date.now();
    if (all.length === 0) return;
    await database.run(sql.unsafe`
      WITH mine AS (
        SELECT c.realm_id, k.through FROM ${table} c
        JOIN ${sql.unnest(all, ['int4', 'int8'])} AS k (realm_id, through) ON k.realm_id = c.realm_id
        WHERE c.name = ${options.name} AND c.position < k.through ORDER BY c.realm_id FOR UPDATE OF c SKIP LOCKED)
      UPDATE ${table} c SET position = mine.through FROM mine WHERE c.realm_id = mine.realm_id AND c.name = ${options.name}`);
    for (const [realmId, number] of all) if (unstored.get(realmId) === number) unstored.delete(realmId);
  }

  /** Returns whether more may be waiting. */
  async function consumeSome(realmId: number): Promise<boolean> {
    const limit = failing.has(realmId) ? 1 : (options.batchSize ?? batchSize);
    let current = 0;
    try {
      const seen = await unitOfWork({ realmId, schema: options.schema, claim: undefined }, async (work) => {
        current = 0;
        // Another process is at it where nothing is found.
        const mine = (await claim(work, limit)) ?? (begun.has(realmId) ? undefined : await begin(work, limit));
        if (!mine) return undefined;
        const { position, number, dropped, events } = mine;
        if (position < dropped) await tellMissing(work, dropped);
        for (const row of events) {
          current = row.number;
          const event = row.event as LogEvent;
          if (!event.isForClientsOnly) await options.handle(work, { number: row.number, source: row.source, event });
        }
        if (events.length > 0) await options.finish?.(work);
        const isFull = events.length === limit;
        const through = Math.max(position, isFull ? (events.at(-1)?.number ?? 0) : number);
        const isMoved = events.length > 0 || position < dropped;
        if (isMoved)
          work.numbered(
            sql.unsafe`UPDATE ${table} SET position = ${through} WHERE realm_id = ${realmId} AND name = ${options.name}`,
          );
        return { through, isFull, isMoved };
      });
      begun.add(realmId);
      if (!seen) return false;
      failing.passed(realmId, seen.through);
      if (seen.isMoved) {
        looked.set(realmId, seen.through);
        unstored.delete(realmId);
      } else sawNothing(realmId, seen.through);
      return seen.isFull;
    } catch (error) {
      const { count, waitMs, park } = failing.failed(realmId, current, error);
      options.onError(error, { consumer: options.name, realmId, number: current, count });
      if (park) {
        await parked.park(realmId, current, error);
        failing.passed(realmId, current);
        return true;
      }
      setTimeout(() => hint(realmId), waitMs).unref();
      return false;
    }
  }

  /** Holds the position against other processes, and reads what comes after it. */
  function claim(work: Work, limit: number) {
    return work.maybeOne(sql.type(claimRow)`
      WITH mine AS (
        SELECT position FROM ${table} WHERE realm_id = ${work.realmId} AND name = ${options.name} FOR UPDATE SKIP LOCKED)
      SELECT mine.position, p.number, log.dropped(${work.realmId}) AS dropped, coalesce((
        SELECT json_agg(json_build_object('number', e.number, 'source', e.source, 'event', e.event) ORDER BY e.number)
        FROM log.read_types(${work.realmId}, mine.position, p.number, ${types}, ${limit}) e), '[]') AS events
      FROM mine, log.position(${work.realmId}) p`);
  }

  async function begin(work: Work, limit: number) {
    const begunHere = await work.run(
      sql.unsafe`INSERT INTO ${table} (realm_id, name, position) VALUES (${work.realmId}, ${options.name}, 0) ON CONFLICT DO NOTHING`,
    );
    return begunHere === 1 ? claim(work, limit) : undefined;
  }

  /** Nothing goes that a consumer has not read, so this one is new in a realm that is old: its copies lack what was before. */
  async function tellMissing(work: Work, dropped: number): Promise<void> {
    const text = `Events up to ${dropped} are no longer in the log; what this consumer keeps begins after them`;
    options.onError(new Error(text), { consumer: options.name, realmId: work.realmId });
    await parked.insert(work, dropped, text);
  }
}
