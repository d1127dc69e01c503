import { type Consumer, type Database, type Executor, pause, sql, VersionsChanged, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';

/** Consumers of this service, each with a type of its events. */
export type Consumers = readonly { name: string; type: string }[];

const positionRow = z.object({ number: z.number() });
const behindRow = z.object({ behind: z.array(z.string()) });
const waitMs = 3_000;
const wakeAgainMs = 20;

/** `wake`: tells consumers of this process that a request waits for them. Absent in a process without consumers. */
interface WakingDatabase extends Database {
  wake?: (realmId: number, consumers: readonly string[]) => void;
}

/** The same owner, with a database by which waiting requests wake its consumers. */
export function withWaking(owner: Owner): Owner & { database: WakingDatabase } {
  const consumers: Consumer[] = [];
  /** Consumers of realms that were just woken. Many requests may wait at once. */
  const woken = new Set<string>();
  const wake: WakingDatabase['wake'] = (realmId, names) => {
    for (const consumer of consumers) {
      const key = `${realmId} ${consumer.name}`;
      if (!names.includes(consumer.name) || woken.has(key)) continue;
      woken.add(key);
      setTimeout(() => woken.delete(key), wakeAgainMs).unref();
      consumer.hint(realmId, true);
    }
  };
  return {
    ...owner,
    database: { ...owner.database, wake },
    consume: (options) => {
      const consumer = owner.consume(options);
      consumers.push(consumer);
      return consumer;
    },
  };
}

/**
 * Waits until these consumers have applied the events of the given types that the log now contains. If they take long, throws
 * `VersionsChanged`, so that the request decides again until its deadline. Consumers that are behind are woken.
 */
export async function waitForConsumers(database: WakingDatabase, realmId: number, consumers: Consumers): Promise<void> {
  const number = await lastNumber(database, realmId);
  for (const end = performance.now() + waitMs; ; await pause(4)) {
    const behind = await behindAmong(database, realmId, consumers, number);
    if (behind.length === 0) return;
    if (performance.now() > end) throw new VersionsChanged('a projection', 'row');
    database.wake?.(realmId, behind);
  }
}

/**
 * The same in a transaction, which never waits: throws `VersionsChanged` of this key if they have not applied them. After
 * repeated failures, the gate of the key holds further events back.
 */
export async function requireConsumers(work: Work, consumers: Consumers, key: string): Promise<void> {
  const number = await lastNumber(work, work.realmId);
  if ((await behindAmong(work, work.realmId, consumers, number)).length > 0) throw new VersionsChanged(key);
}

async function lastNumber(executor: Executor, realmId: number): Promise<number> {
  const { number } = await executor.one(sql.type(positionRow)`SELECT number FROM log.position(${realmId})`);
  return number;
}

/** The names of the consumers that have not applied all these events up to a number. */
async function behindAmong(
  executor: Executor,
  realmId: number,
  consumers: Consumers,
  number: number,
): Promise<string[]> {
  const { behind } = await executor.one(sql.type(behindRow)`
    SELECT ARRAY(SELECT k.name FROM jsonb_to_recordset(${JSON.stringify(consumers)}) AS k (name text, type text)
      WHERE EXISTS (SELECT FROM log.read_types(${realmId}, coalesce(
        (SELECT position FROM messaging.consumer WHERE realm_id = ${realmId} AND name = k.name), 0), ${number}, ARRAY[k.type], 1))) AS behind`);
  return behind;
}
