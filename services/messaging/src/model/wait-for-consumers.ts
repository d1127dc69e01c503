import { type Database, type Executor, pause, sql, VersionsChanged, type Work } from '@natter/database';
import { z } from 'zod';

/** Consumers of this service, each with a type of its events. */
export type Consumers = readonly { name: string; type: string }[];

const positionRow = z.object({ number: z.number() });
const behindRow = z.object({ is_behind: z.boolean() });
const waitMs = 3_000;

/**
 * Waits until these consumers have applied the events of the given types that the log now contains. If they take long, throws
 * `VersionsChanged`, so that the request decides again until its deadline.
 */
export async function waitForConsumers(database: Database, realmId: number, consumers: Consumers): Promise<void> {
  const number = await lastNumber(database, realmId);
  for (const end = performance.now() + waitMs; await areBehind(database, realmId, consumers, number); await pause(4))
    if (performance.now() > end) throw new VersionsChanged('a projection', 'row');
}

/**
 * The same in a transaction, which never waits: throws `VersionsChanged` of this key if they have not applied them. After
 * repeated failures, the gate of the key holds further events back.
 */
export async function requireConsumers(work: Work, consumers: Consumers, key: string): Promise<void> {
  const number = await lastNumber(work, work.realmId);
  if (await areBehind(work, work.realmId, consumers, number)) throw new VersionsChanged(key);
}

async function lastNumber(executor: Executor, realmId: number): Promise<number> {
  const { number } = await executor.one(sql.type(positionRow)`SELECT number FROM log.position(${realmId})`);
  return number;
}

async function areBehind(executor: Executor, realmId: number, consumers: Consumers, number: number): Promise<boolean> {
  const { is_behind } = await executor.one(sql.type(behindRow)`
    SELECT EXISTS (SELECT FROM jsonb_to_recordset(${JSON.stringify(consumers)}) AS k (name text, type text), log.read_types(${realmId}, coalesce(
      (SELECT position FROM messaging.consumer WHERE realm_id = ${realmId} AND name = k.name), 0), ${number}, ARRAY[k.type], 1)) AS is_behind`);
  return is_behind;
}
