import { type advisoryLocks, type LockName, lockNames, lockOf } from '@natter/contracts';
import { z } from 'zod';
import { withoutCost } from './cost.ts';
import { type Query, sql } from './database.ts';
import type { Work } from './work.ts';

type Keyed<Key extends string> = {
  [Name in LockName]: (typeof advisoryLocks)[Name]['key'] extends Key ? Name : never;
}[LockName];
/** Locks whose key is the realm of the unit. */
type RealmLock = Keyed<'realm'>;
/** Locks whose key the caller gives. */
type KeyedLock = Keyed<'user' | 'channel'>;
/** Locks without a key. */
type DatabaseLock = Keyed<'database'>;
type Mode = 'alone' | 'shared';

const functionOf = { alone: 'pg_advisory_xact_lock', shared: 'pg_advisory_xact_lock_shared' } as const;
const isMine = z.object({ is_mine: z.boolean() });

/** For each unit, the position of its last lock in the order of `advisoryLocks`. */
const reached = new WeakMap<Work, number>();

/**
 * Takes an advisory lock until the end of the transaction. Throws if the unit already took a lock that comes later in
 * the order of `advisoryLocks`.
 */
export async function lock(work: Work, name: RealmLock, mode?: Mode): Promise<void> {
  await take(work, name, work.realmId, mode);
}

/** Like `lock`, for locks of a user or a channel. */
export async function lockFor(work: Work, name: KeyedLock, key: number, mode?: Mode): Promise<void> {
  await take(work, name, key, mode);
}

/** Maximum number of locks that one statement takes: PostgreSQL has room for some thousands, in all transactions together. */
const maxKeys = 1_000;

/** Like `lockFor` for several keys, with one statement, in the order of the keys. */
export async function lockForEach(work: Work, name: KeyedLock, keys: readonly number[]): Promise<void> {
  if (keys.length > maxKeys) throw new Error(`${keys.length} locks ${name} are too many for one unit`);
  checkOrder(work, name);
  const { number } = lockOf(name);
  await withoutCost(() =>
    work.run(sql.unsafe`
      SELECT pg_advisory_xact_lock(${number}, k.key) FROM (
        SELECT DISTINCT key FROM unnest(${sql.array([...keys], 'int4')}) AS u (key) ORDER BY key OFFSET 0) k`),
  );
}

/** Takes a lock of the realm unless another transaction holds it; returns whether it did. */
export async function tryLock(work: Work, name: RealmLock): Promise<boolean> {
  checkOrder(work, name);
  const query = sql.type(isMine)`SELECT pg_try_advisory_xact_lock(${lockOf(name).number}, ${work.realmId}) AS is_mine`;
  return (await work.one(query)).is_mine;
}

/**
 * The query that takes a lock without a key, unless another transaction holds it. It has no parameters: after a statement
 * with parameters an open transaction always keeps its snapshot, without parameters only sometimes. `DETACH PARTITION …
 * FINALIZE` waits for such snapshots.
 */
export const tryDatabaseLock = (name: DatabaseLock): Query<typeof isMine> =>
  sql.type(isMine)`SELECT pg_try_advisory_xact_lock(${sql.literalValue(String(lockOf(name).number))}) AS is_mine`;

/** The statement that takes a lock of a realm, for a message of several statements. */
export const lockText = (name: RealmLock, realmId: number, mode: Mode = 'alone'): string =>
  `SELECT ${functionOf[mode]}(${lockOf(name).number}, ${realmId})`;

/** The statement that takes a lock until the session ends, unless another session holds it. */
export const trySessionLockText = (name: DatabaseLock): string =>
  `SELECT pg_try_advisory_lock(${lockOf(name).number}) AS is_mine`;

/** A condition for rows of `pg_locks`: the session holds this lock, which has no key. */
export const isHeldText = (name: DatabaseLock): string =>
  `locktype = 'advisory' AND classid = 0 AND objid = ${lockOf(name).number} AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

async function take(work: Work, name: LockName, key: number, mode: Mode = 'alone'): Promise<void> {
  checkOrder(work, name);
  const { number, formerly } = lockOf(name);
  await withoutCost(async () => {
    if (formerly !== undefined) await work.run(sql.unsafe`SELECT pg_advisory_xact_lock_shared(${formerly}, ${key})`);
    await work.run(
      mode === 'shared'
        ? sql.unsafe`SELECT pg_advisory_xact_lock_shared(${number}, ${key})`
        : sql.unsafe`SELECT pg_advisory_xact_lock(${number}, ${key})`,
    );
  });
}

/** Two units that take the same locks in different orders can deadlock. */
function checkOrder(work: Work, name: LockName): void {
  const position = lockNames.indexOf(name);
  const last = reached.get(work) ?? position;
  if (position < last) throw new Error(`The lock ${name} is taken after ${lockNames[last]}, which comes after it`);
  reached.set(work, position);
}
