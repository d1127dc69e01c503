import type { LogEvent } from '@natter/contracts';
import { z } from 'zod';
import { type Database, type Executor, sql } from './database.ts';
import { isCausedByEvent } from './failing-realms.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import type { Handled, Work } from './work.ts';

/** Events that a consumer skipped, until an operator re-applies or drops them (`natter parked`). */
export interface ParkedEvents {
  /** Skips the event and stores it. */
  park(realmId: number, number: number, error: unknown): Promise<void>;
  insert(work: Work, number: number, error: string): Promise<void>;
  /** Re-applies the events that an operator selected. An event whose handler returns `unfinished` stays selected. */
  reapply(handle: (work: Work, event: { number: number; event: LogEvent }) => Promise<Handled>): Promise<void>;
}

const askedRow = z.object({ realm_id: z.number(), number: z.number() });
const numberRow = z.object({ number: z.number() });
const eventRow = z.object({ number: z.number(), event: z.custom<LogEvent>() });

export function createParkedEvents(
  database: Database,
  unitOfWork: UnitOfWork,
  { schema, name, types }: { schema: string; name: string; types: readonly string[] },
): ParkedEvents {
  const consumer = sql.identifier([schema, 'consumer']);
  const parked = sql.identifier([schema, 'parked_event']);

  const insert: ParkedEvents['insert'] = async (work, number, error) => {
    await work.run(
      sql.unsafe`INSERT INTO ${parked} (realm_id, name, number, error) VALUES (${work.realmId}, ${name}, ${number}, ${error})`,
    );
  };
  const remember = (executor: Executor, realmId: number, number: number, error: unknown) =>
    executor.run(sql.unsafe`
      UPDATE ${parked} SET is_asked_for = false, error = ${textOf(error)}
      WHERE realm_id = ${realmId} AND name = ${name} AND number = ${number}`);

  return {
    insert,

    async park(realmId, number, error) {
      await unitOfWork({ realmId, schema, claim: undefined }, async (work) => {
        // The consumer may have no position yet: the transaction that would have created it failed with the event.
        const moved = await work.run(sql.unsafe`
          INSERT INTO ${consumer} AS c (realm_id, name, position) VALUES (${realmId}, ${name}, ${number})
          ON CONFLICT (realm_id, name) DO UPDATE SET position = excluded.position WHERE c.position < excluded.position`);
        // Another process may have parked it too.
        if (moved > 0) await insert(work, number, textOf(error));
      });
    },

    async reapply(handle) {
      const asked = await database.any(
        sql.type(
          askedRow,
        )`SELECT realm_id, number FROM ${parked} WHERE name = ${name} AND is_asked_for ORDER BY realm_id, number LIMIT 100`,
      );
      for (const { realm_id: realmId, number } of asked)
        try {
          await unitOfWork({ realmId, schema, claim: undefined, isConsumer: true }, async (work) => {
            const row = sql.fragment`${parked} WHERE realm_id = ${realmId} AND name = ${name} AND number = ${number} AND is_asked_for`;
            const taken = await work.any(sql.type(numberRow)`SELECT number FROM ${row} FOR UPDATE`);
            if (taken.length === 0) return;
            const event = await work.maybeOne(sql.type(eventRow)`
              SELECT number, event FROM log.read_types(${realmId}, ${number - 1}, ${number}, ${sql.array([...types], 'text')}, 1)`);
            if (!event) throw new Error('The event is no longer in the log');
            if ((await handle(work, event)) !== 'unfinished') await work.run(sql.unsafe`DELETE FROM ${row}`);
          });
        } catch (error) {
          if (!isCausedByEvent(error)) throw error;
          await remember(database, realmId, number, error);
        }
    },
  };
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
