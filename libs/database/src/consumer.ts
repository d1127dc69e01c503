import type { LogEvent } from '@natter/contracts';
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
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

export interface Consumer {
  /** Something may have happened in this realm. */
  hint(realmId: number): void;
  stop(): Promise<void>;
}

const eventRow = z.object({ number: z.number(), source: z.string(), type: z.string(), event: z.any() });
const pollMs = 1_000;
const batchSize = 200;

/**
 * Follows the event table of every realm in order. The position moves in the transaction of the effect, so each event
 * takes effect once, whatever is killed. An event that fails three times is parked and passed.
 */
export function startConsumer(database: Database, unitOfWork: UnitOfWork, options: ConsumerOptions): Consumer {
  const hinted = new Set<number>();
  const failures = new Map<string, number>();
  let stopped = false;
  let wake: () => void = () => undefined;

  const loop = (async () => {
    while (!stopped) {
      try {
        const realms =
          hinted.size > 0
            ? [...hinted]
            : (
                await database.any(sql.type(z.object({ realm_id: z.number() }))`SELECT realm_id FROM log.realms(NULL)`)
              ).map((row) => row.realm_id);
        hinted.clear();
        for (const realmId of realms) while (!stopped && (await consumeSome(realmId)));
      } catch (error) {
        options.onError(error, { consumer: options.name });
        await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 300));
      }
      if (hinted.size === 0 && !stopped)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pollMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
    }
  })();

  return {
    hint: (realmId) => {
      hinted.add(realmId);
      wake();
    },
    stop: async () => {
      stopped = true;
      wake();
      await loop;
    },
  };

  /** Returns whether more may be waiting. */
  async function consumeSome(realmId: number): Promise<boolean> {
    const table = sql.identifier([options.schema, 'consumer']);
    const { position } = (await database.maybeOne(sql.type(z.object({ position: z.number() }))`
      SELECT position FROM ${table} WHERE realm_id = ${realmId} AND name = ${options.name}`)) ?? { position: -1 };
    const clock = await database.maybeOne(
      sql.type(z.object({ number: z.number() }))`SELECT number FROM log.position(${realmId})`,
    );
    if (!clock || clock.number <= position) return false;
    let seen = 0;
    let current = 0;
    try {
      await unitOfWork({ realmId, schema: options.schema }, async (work) => {
        seen = 0;
        await work.run(
          sql.unsafe`INSERT INTO ${table} (realm_id, name, position) VALUES (${realmId}, ${options.name}, 0) ON CONFLICT DO NOTHING`,
        );
        const mine = await work.maybeOne(sql.type(z.object({ position: z.number() }))`
          SELECT position FROM ${table} WHERE realm_id = ${realmId} AND name = ${options.name} FOR UPDATE SKIP LOCKED`);
        if (!mine) return;
        const events = await work.any(
          sql.type(
            eventRow,
          )`SELECT number, source, type, event FROM log.read(${realmId}, ${mine.position}, ${batchSize})`,
        );
        const last = events.at(-1);
        if (!last) return;
        for (const row of events) {
          if (!options.types.includes(row.type)) continue;
          current = row.number;
          await options.handle(work, { number: row.number, source: row.source, event: row.event as LogEvent });
        }
        await work.run(
          sql.unsafe`UPDATE ${table} SET position = ${last.number} WHERE realm_id = ${realmId} AND name = ${options.name}`,
        );
        seen = events.length;
      });
    } catch (error) {
      options.onError(error, { consumer: options.name, realmId, number: current });
      const key = `${realmId}:${current}`;
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      if (count < 3 || current === 0) throw error;
      failures.delete(key);
      await park(realmId, current, error);
    }
    return seen === batchSize;
  }

  async function park(realmId: number, number: number, error: unknown): Promise<void> {
    const text = error instanceof Error ? error.message : String(error);
    await unitOfWork({ realmId, schema: options.schema }, async (work) => {
      await work.run(
        sql.unsafe`INSERT INTO ${sql.identifier([options.schema, 'parked_event'])} (realm_id, name, number, error) VALUES (${realmId}, ${options.name}, ${number}, ${text})`,
      );
      await work.run(
        sql.unsafe`UPDATE ${sql.identifier([options.schema, 'consumer'])} SET position = ${number} WHERE realm_id = ${realmId} AND name = ${options.name} AND position < ${number}`,
      );
    });
  }
}
