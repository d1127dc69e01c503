import { ChatError, type LogEvent } from '@natter/contracts';
import { z } from 'zod';
import { type Database, sql } from './database.ts';
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
  /** Up to this number nothing is waiting, as far as this process has looked. */
  through(realmId: number): number;
  /** Somebody looked: nothing is waiting up to this number. */
  sawNothing(realmId: number, number: number): void;
  /** Something may have happened in this realm; `isAwaited`: somebody waits for its effect. */
  hint(realmId: number, isAwaited?: boolean): void;
  stop(): Promise<void>;
}

const eventRow = z.object({ number: z.number(), source: z.string(), event: z.any() });
const clockRow = z.object({ number: z.number(), dropped: z.number() });
const positionRow = z.object({ position: z.number() });
const pollMs = 1_000;
const usualGatherMs = 15;
const batchSize = 200;
const moveEveryMs = 10_000;
const maxFailures = 3;

/**
 * Follows the event table of every realm in order. The position moves in the transaction of the effect, so each event
 * takes effect once, whatever is killed. Over events that nobody here acts on it moves now and then, in one step. An event
 * that fails three times is parked and passed.
 */
export function startConsumer(database: Database, unitOfWork: UnitOfWork, options: ConsumerOptions): Consumer {
  const table = sql.identifier([options.schema, 'consumer']);
  const types = sql.array([...options.types], 'text');
  const hinted = new Set<number>();
  /** Per realm: up to here nothing is waiting for us; and when the stored position was last moved. */
  const looked = new Map<number, { through: number; movedAt: number }>();
  /** Per realm: the event that failed, and how often. Until it is past, events are taken one by one. */
  const failing = new Map<number, { number: number; count: number }>();
  let stopped = false;
  const gatherMs = options.gatherMs ?? usualGatherMs;
  let wake: (afterMs: number) => void = () => undefined;
  let isAwaitedNow = false;

  const loop = (async () => {
    while (!stopped) {
      const realms = [...hinted];
      hinted.clear();
      isAwaitedNow = false;
      try {
        for (const realmId of realms.length > 0 ? realms : await realmsBehind())
          while (!stopped && (await consumeSome(realmId)));
      } catch (error) {
        options.onError(error, { consumer: options.name });
        await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 300));
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
    through: (realmId) => looked.get(realmId)?.through ?? 0,
    sawNothing: (realmId, number) => {
      const known = looked.get(realmId);
      if (!known || known.through < number) looked.set(realmId, { through: number, movedAt: known?.movedAt ?? 0 });
    },
    hint: (realmId, isAwaited = false) => {
      if (isAwaited && !isAwaitedNow) {
        isAwaitedNow = true;
        hinted.add(realmId);
        return wake(0);
      }
      if (hinted.has(realmId)) return;
      hinted.add(realmId);
      wake(gatherMs);
    },
    stop: async () => {
      stopped = true;
      wake(0);
      await loop;
    },
  };

  async function realmsBehind(): Promise<number[]> {
    const rows = await database.any(sql.type(z.object({ realm_id: z.number(), number: z.number() }))`
      SELECT r.realm_id, r.number FROM log.realms(NULL) r LEFT JOIN ${table} c ON c.realm_id = r.realm_id AND c.name = ${options.name}
      WHERE r.number > coalesce(c.position, 0)`);
    return rows.filter((row) => isWorthALook(row.realm_id, row.number)).map((row) => row.realm_id);
  }

  function isWorthALook(realmId: number, clock: number): boolean {
    const known = looked.get(realmId);
    return !known || known.through < clock || Date.now() - known.movedAt > moveEveryMs;
  }

  /** Returns whether more may be waiting. */
  async function consumeSome(realmId: number): Promise<boolean> {
    const known = looked.get(realmId) ?? { through: 0, movedAt: 0 };
    const isWaiting = await database.one(sql.type(z.object({ number: z.number(), found: z.boolean() }))`
      SELECT p.number, EXISTS (SELECT FROM log.read_types(${realmId}, greatest(${known.through}, coalesce(
        (SELECT position FROM ${table} WHERE realm_id = ${realmId} AND name = ${options.name}), 0)), p.number, ${types}, 1)) AS found
      FROM log.position(${realmId}) p`);
    if (!isWaiting.found && Date.now() - known.movedAt < moveEveryMs) {
      looked.set(realmId, { ...known, through: isWaiting.number });
      return false;
    }
    const limit = failing.has(realmId) ? 1 : (options.batchSize ?? batchSize);
    let current = 0;
    try {
      const seen = await unitOfWork({ realmId, schema: options.schema }, async (work) => {
        current = 0;
        await work.run(
          sql.unsafe`INSERT INTO ${table} (realm_id, name, position) VALUES (${realmId}, ${options.name}, 0) ON CONFLICT DO NOTHING`,
        );
        const mine = await work.maybeOne(sql.type(positionRow)`
          SELECT position FROM ${table} WHERE realm_id = ${realmId} AND name = ${options.name} FOR UPDATE SKIP LOCKED`);
        // Another process is at it.
        if (!mine) return undefined;
        const clock = await work.one(
          sql.type(clockRow)`SELECT number, log.dropped(${realmId}) AS dropped FROM log.position(${realmId})`,
        );
        if (mine.position < clock.dropped) await tellMissing(work, clock.dropped);
        const events = await work.any(sql.type(eventRow)`
          SELECT number, source, event FROM log.read_types(${realmId}, ${mine.position}, ${clock.number}, ${types}, ${limit})`);
        for (const row of events) {
          current = row.number;
          const event = row.event as LogEvent;
          if (!event.isForClientsOnly) await options.handle(work, { number: row.number, source: row.source, event });
        }
        if (events.length > 0) await options.finish?.(work);
        const last = events.length < limit ? clock.number : (events.at(-1)?.number ?? clock.number);
        await work.run(
          sql.unsafe`UPDATE ${table} SET position = ${last} WHERE realm_id = ${realmId} AND name = ${options.name}`,
        );
        return { through: last, isFull: events.length === limit };
      });
      if (!seen) return false;
      if (seen.through >= (failing.get(realmId)?.number ?? 0)) failing.delete(realmId);
      looked.set(realmId, { through: seen.through, movedAt: Date.now() });
      return seen.isFull;
    } catch (error) {
      await countFailure(realmId, current, error);
      throw error;
    }
  }

  /** Nothing goes that a consumer has not read, so this one is new in a realm that is old: its copies lack what was before. */
  async function tellMissing(work: Work, dropped: number): Promise<void> {
    const text = `Events up to ${dropped} are no longer in the log; what this consumer keeps begins after them`;
    options.onError(new Error(text), { consumer: options.name, realmId: work.realmId });
    await insertParked(work, dropped, text);
  }

  /** An outage is nobody's fault; an event that fails by itself, alone in its transaction, is parked in the end. */
  async function countFailure(realmId: number, number: number, error: unknown): Promise<void> {
    if (number === 0 || (error instanceof ChatError && error.status >= 500)) return;
    const before = failing.get(realmId);
    const count = before?.number === number ? before.count + 1 : 1;
    failing.set(realmId, { number, count });
    options.onError(error, { consumer: options.name, realmId, number, count });
    if (count < maxFailures) return;
    await park(realmId, number, error);
    failing.delete(realmId);
  }

  async function park(realmId: number, number: number, error: unknown): Promise<void> {
    const text = error instanceof Error ? error.message : String(error);
    await unitOfWork({ realmId, schema: options.schema }, async (work) => {
      const moved = await work.run(
        sql.unsafe`UPDATE ${table} SET position = ${number} WHERE realm_id = ${realmId} AND name = ${options.name} AND position < ${number}`,
      );
      // Another process may have given up on it too.
      if (moved === 0) return;
      await insertParked(work, number, text);
    });
  }

  async function insertParked(work: Work, number: number, text: string): Promise<void> {
    await work.run(
      sql.unsafe`INSERT INTO ${sql.identifier([options.schema, 'parked_event'])} (realm_id, name, number, error) VALUES (${work.realmId}, ${options.name}, ${number}, ${text})`,
    );
  }
}
