import { badRequest, isStorableJson, type LogEntry, type LogEvent } from '@natter/contracts';
import type pg from 'pg';
import { z } from 'zod';
import type { Appended, OnAppended } from './after-commit.ts';
import { type Claim, insertAnswer, KeyTaken } from './claim.ts';
import type { Connection } from './connection.ts';
import { withoutCost } from './cost.ts';
import { type Database, executor, sql, toLiteralSql } from './database.ts';
import { currentDeadline, type Deadline, pause } from './deadline.ts';
import { createEventRoom } from './event-room.ts';
import { type Gates, passGate } from './gates.ts';
import { isKeyTaken, type NamedRow, namedRow } from './named-row.ts';
import { type Numbered, numberedQueries } from './numbered.ts';
import { isTransient } from './prepared.ts';
import { sqlState } from './sql-state.ts';
import { traced } from './trace.ts';
import type { Work } from './work.ts';

export interface UnitOptions {
  realmId: number;
  /** Schema of the service; also the source of its events. */
  schema: string;
  /** The key of the request that makes this change: the result of the unit is stored as its answer. */
  claim: Claim | undefined;
  /**
   * Whether the unit waits for the gate of its service at the beginning. Set it for units that bump versions which other units
   * of the same kind bump too: otherwise they would fail at the commit.
   */
  isQueued?: boolean;
  /** Maximum idle time between two statements, in milliseconds. Set a short one if other transactions wait for its locks. */
  idleMs?: number;
  /** Whether a consumer runs the unit for an event of the log. */
  isConsumer?: boolean;
  /** The operation whose request runs the unit. */
  operation?: Appended['operation'];
}

/**
 * Runs `handler` in one transaction and commits its events with it. The handler makes no bus call and may run again
 * (deadlock, serialization failure). Throws `VersionsChanged` if an expected version has changed: the caller refreshes its
 * data and decides again. Throws `KeyTaken` if the key of `claim` has an answer.
 */
export type UnitOfWork = <R>(options: UnitOptions, handler: (work: Work) => Promise<R>) => Promise<R>;

export class VersionsChanged extends Error {
  /** `version`: a gate can hold it during a later attempt. `row`: the next attempt reads the row again. */
  readonly of: 'version' | 'row';
  readonly key: string;
  /** The changed row, if the error of Postgres named it. */
  readonly row: NamedRow | undefined;

  constructor(key: string, of: 'version' | 'row' = 'version', row?: NamedRow) {
    super(`an expected version has changed: ${key}`);
    this.key = key;
    this.of = of;
    this.row = row;
    this.name = 'VersionsChanged';
  }
}

/** Another attempt holds the gate of the versions that this unit bumps. */
class GateHeld extends VersionsChanged {}

export const numbersRow = z.object({
  first: z.number(),
  marks: z.array(z.number()).nullable(),
  previous_mark: z.number(),
  at: z.number(),
});

type Numbers = z.output<typeof numbersRow>;

const maxAttempts = 5;
const lockMs = 5_000;
/** Maximum time between two statements of a unit; a process that hangs there blocks others for this long. */
export const usualIdleMs = 4_000;

export function createUnitOfWork(database: Database, onAppended: OnAppended, gates?: Gates): UnitOfWork {
  return async (options, handler) => {
    const run = (locks: string[]) => runOnce(database, onAppended, { ...options, locks }, handler);
    let isQueued = options.isQueued ?? false;
    for (let attempt = 1; ; attempt++) {
      try {
        return await (isQueued && gates ? gates.enter(options.realmId, run) : run([]));
      } catch (error) {
        if (error instanceof GateHeld && gates && !currentDeadline()?.hasEnded) {
          isQueued = true;
          attempt--;
          continue;
        }
        if (attempt < maxAttempts && isTransient(error)) {
          await pause(Math.random() * 10 * 2 ** attempt);
          continue;
        }
        throw error;
      }
    }
  };
}

async function runOnce<R>(
  database: Database,
  onAppended: OnAppended,
  options: UnitOptions & { locks: string[] },
  handler: (work: Work) => Promise<R>,
): Promise<R> {
  return database.connect(async (connection) => {
    const unit = openUnit(connection, options);
    await withoutCost(() => connection.query([unit.begin, ...options.locks].join('; ')));
    const result = await handler(unit.work);
    const { claim, realmId, schema, operation } = options;
    // Written after the clock is locked. An earlier transaction with the same key has then ended, so no unit waits for a key.
    if (claim) unit.numbered.push(insertAnswer(schema, realmId, claim, { result }));
    const appended = await appendAndCommit(connection, schema, unit);
    if (claim) claim.stored = { result };
    onAppended({ ...appended, operation });
    return result;
  });
}

export interface OpenUnit {
  work: Work;
  realmId: number;
  events: LogEvent[];
  /** The expected versions. */
  expected: Record<string, number>;
  bumps: string[];
  /** Whether the commit locks the clock even if it appends, compares and bumps nothing. */
  isOrdered: boolean;
  numbered: Numbered[];
  /** The message that begins the transaction. */
  begin: string;
  /** How long a statement after `log.append`, which holds the clock, may wait for a lock; as long as one before it if absent. */
  rowLockMs?: number | undefined;
  /** Fails the transaction if it took longer than its caller waits, as measured by Postgres from `begin`. */
  checkDeadline: string;
}

/** The statements that begin a transaction and that end it with the deadline. */
export function boundsOf(deadline: Deadline, idleMs: number, longestLockMs = lockMs) {
  const remainingMs = Math.max(Math.floor(deadline.remainingMs()), 1);
  return {
    begin: `BEGIN; SET LOCAL statement_timeout = ${remainingMs}; SET LOCAL lock_timeout = ${Math.min(longestLockMs, remainingMs)}; SET LOCAL idle_in_transaction_session_timeout = '${idleMs}'`,
    checkDeadline: `SELECT log.check_deadline(${remainingMs}), extract(epoch FROM clock_timestamp())::float8 * 1000 AS ended`,
  };
}

export function openUnit(
  { query, deadline }: Connection,
  { realmId, idleMs = usualIdleMs, isConsumer = false }: Pick<UnitOptions, 'realmId' | 'idleMs' | 'isConsumer'>,
): OpenUnit {
  const unit: Omit<OpenUnit, 'work'> = {
    realmId,
    events: [],
    expected: {},
    bumps: [],
    isOrdered: false,
    numbered: [],
    ...boundsOf(deadline, idleMs),
  };
  const requireRoom = createEventRoom(isConsumer);
  const work: Work = {
    ...executor(query),
    realmId,
    emit: (event) => {
      requireRoom(event);
      return unit.events.push(traced(event)) - 1;
    },
    emitted: () => unit.events.length,
    isConsumer,
    expectVersions: (versions) => {
      for (const [key, version] of Object.entries(versions)) {
        if ((unit.expected[key] ?? version) !== version) throw new VersionsChanged(key);
        unit.expected[key] = version;
      }
    },
    bump: (key) => void unit.bumps.push(key),
    lockClock: () => {
      unit.isOrdered = true;
    },
    numbered: (row) => void unit.numbered.push(row),
  };
  return Object.assign(unit, { work });
}

/**
 * Sends the clock, the events and COMMIT in one message, so that a process that is stopped here cannot hold the clock.
 * After the deadline the message is not sent; if sent before, it commits before the deadline or not at all, except for
 * the time of COMMIT itself. `before`: the statements that begin the transaction, if none was sent yet. Also returns for how
 * long the clock was held.
 */
export async function appendAndCommit(
  connection: Connection,
  source: string,
  unit: OpenUnit,
  before?: string,
): Promise<Appended & { heldMs: number }> {
  const { realmId, events, expected, bumps, isOrdered, numbered } = unit;
  if (!isOrdered && events.length === 0 && bumps.length === 0 && Object.keys(expected).length === 0) {
    const last = numberedQueries(realmId, numbered).map(toLiteralSql);
    if (before === undefined)
      await connection.query([...last, unit.checkDeadline, 'COMMIT'].join('; ')).catch(throwAsKnown);
    return { realmId, entries: [], heldMs: 0 };
  }
  const json = JSON.stringify(events);
  if (!isStorableJson(json)) throw badRequest('The request contains text that cannot be stored');
  const append = sql.unsafe`SELECT log.append(${realmId}, ${JSON.stringify(expected)}::jsonb, ${sql.array(bumps, 'text')}, ${source}, ${json}::json) AS appended`;
  const statements = [
    toLiteralSql(append),
    ...(unit.rowLockMs !== undefined && numbered.length > 0 ? [`SET LOCAL lock_timeout = ${unit.rowLockMs}`] : []),
    ...(bumps.length > 0 ? passGate(realmId, source) : []),
    ...numberedQueries(realmId, numbered).map(toLiteralSql),
  ];
  const message = [...(before === undefined ? [] : [before]), ...statements, unit.checkDeadline, 'COMMIT'].join('; ');
  const results = (await connection.query(message).catch(throwAsKnown)) as unknown as pg.QueryResult[];
  const [row] = results.find((result) => result.fields[0]?.name === 'appended')?.rows ?? [];
  const { ended } = results.flatMap(({ rows }) => rows).findLast((one) => 'ended' in one);
  const numbers = numbersRow.parse(row?.appended);
  return { realmId, entries: entriesOf(events, numbers), heldMs: Math.max(0, ended - numbers.at) };
}

/** Throws the error of a commit, as `KeyTaken` or `VersionsChanged` if that is its cause. */
export function throwAsKnown(error: unknown): never {
  if (isKeyTaken(error)) throw new KeyTaken(namedRow(error));
  if (sqlState(error) !== 'NT409') throw error;
  const { message } = error as Error;
  if (message.startsWith('gate ')) throw new GateHeld(message);
  if (message.startsWith('row changed: '))
    throw new VersionsChanged(message.replace('row changed: ', ''), 'row', namedRow(error));
  throw new VersionsChanged(message.replace(/^basis changed: /, ''));
}

/** The events with the numbers and marks that `log.append` assigned. */
export function entriesOf(events: readonly LogEvent[], { first, marks, previous_mark, at }: Numbers): LogEntry[] {
  const markOf = (index: number): number => marks?.[index] ?? 0;
  return events.map((event, index) => ({
    number: first + index,
    n: 0,
    mark: markOf(index),
    previousMark: index === 0 ? previous_mark : markOf(index - 1),
    at,
    event,
  }));
}
