import { ChatError, type LogEntry, type LogEvent } from '@natter/contracts';
import type pg from 'pg';
import { z } from 'zod';
import { type Claim, insertAnswer, isKeyTaken, KeyTaken } from './claim.ts';
import type { Connection } from './connection.ts';
import { type Database, type Executor, executor, sql, toLiteralSql } from './database.ts';
import { currentDeadline, pause, withoutDeadline } from './deadline.ts';
import { type Gates, passGate } from './gates.ts';
import { type Numbered, numberedQueries } from './numbered.ts';
import { isTransient } from './prepared.ts';
import { sqlState } from './sql-state.ts';
import { traced } from './trace.ts';

/** What is being done in one transaction, for one realm. */
export interface Work extends Executor {
  readonly realmId: number;
  /** Announces a change; returns its offset from the first number of this unit. */
  emit(event: LogEvent): number;
  /** What this unit's decisions rest on: versions that must still hold at the commit. */
  restOn(basis: Record<string, number>): void;
  /** Ends what others decided on this key's version. */
  bump(key: string): void;
  /**
   * A row that carries a number of the log; written with the commit: after the clock was taken, if anything is announced, with
   * `log.last_number(realm)`.
   */
  numbered(row: Numbered): void;
}

export interface UnitOptions {
  realmId: number;
  /** Schema of the service; also the source of its events. */
  schema: string;
  /** The key of the request whose change this is: the result of the unit is stored as its answer. */
  claim: Claim | undefined;
  /** It bumps versions that others of its kind bump: it waits for them at the beginning instead of losing to them at the end. */
  isQueued?: boolean;
}

export interface Appended {
  realmId: number;
  entries: LogEntry[];
}

/** Told of every committed append; must not throw and is not waited for. */
export type OnAppended = (appended: Appended) => void;

/**
 * Runs `handler` in one transaction and commits its events with it. The handler makes no bus call and may run again
 * (deadlock, serialisation failure). Throws `BasisChanged` when what it rested on has changed: the caller refreshes
 * and decides anew. Throws `KeyTaken` when the key of `claim` has an answer.
 */
export type UnitOfWork = <R>(options: UnitOptions, handler: (work: Work) => Promise<R>) => Promise<R>;

export class BasisChanged extends Error {
  /** A version is held as it is for the next attempt, which reads a row again. */
  readonly of: 'version' | 'row';

  constructor(key: string, of: 'version' | 'row' = 'version') {
    super(key);
    this.of = of;
    this.name = 'BasisChanged';
  }
}

/** Somebody who decides again holds the versions that this unit bumps. */
class GateHeld extends BasisChanged {}

const appendResult = z.object({
  first: z.number(),
  marks: z.array(z.number()).nullable(),
  previous_mark: z.number(),
  at: z.number(),
});

const maxAttempts = 5;
const lockMs = 5_000;
/** Of one unit. The largest requests (a thousand people into ten channels) announce less than half of it. */
const maxEvents = 25_000;

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
    const unit = openUnit(connection, options.realmId);
    await connection.query([unit.begin, ...options.locks].join('; '));
    const result = await handler(unit.work);
    const { claim, realmId, schema } = options;
    // Last: under the clock, so that nobody waits for a key while they hold it.
    if (claim) unit.numbered.push(insertAnswer(schema, realmId, claim, { result }));
    const appended = await appendAndCommit(connection, schema, unit);
    if (claim) claim.stored = { result };
    if (appended.entries.length > 0) withoutDeadline(() => onAppended(appended));
    return result;
  });
}

export interface OpenUnit {
  work: Work;
  realmId: number;
  events: LogEvent[];
  basis: Record<string, number>;
  bumps: string[];
  numbered: Numbered[];
  /** The message that begins the transaction. */
  begin: string;
  /** Fails the transaction when it took longer than its caller waits, as Postgres measures it from `begin`. */
  checkDeadline: string;
}

export function openUnit({ query, deadline }: Connection, realmId: number): OpenUnit {
  const remainingMs = Math.max(Math.floor(deadline.remainingMs()), 1);
  const unit: Omit<OpenUnit, 'work'> = {
    realmId,
    events: [],
    basis: {},
    bumps: [],
    numbered: [],
    begin: `BEGIN; SET LOCAL statement_timeout = ${remainingMs}; SET LOCAL lock_timeout = ${Math.min(lockMs, remainingMs)}; SET LOCAL idle_in_transaction_session_timeout = '8s'`,
    checkDeadline: `SELECT log.check_deadline(${remainingMs})`,
  };
  const work: Work = {
    ...executor(query),
    realmId,
    emit: (event) => {
      if (unit.events.length >= maxEvents)
        throw new ChatError('REQUEST_TOO_LARGE', 'The request changes too much at once');
      return unit.events.push(traced(event)) - 1;
    },
    restOn: (basis) => {
      for (const [key, version] of Object.entries(basis)) {
        if ((unit.basis[key] ?? version) !== version) throw new BasisChanged(key);
        unit.basis[key] = version;
      }
    },
    bump: (key) => void unit.bumps.push(key),
    numbered: (row) => void unit.numbered.push(row),
  };
  return { ...unit, work };
}

/**
 * The clock, the events and COMMIT in one message: a process that is stopped here cannot hold the clock. After the deadline
 * the message is not sent; sent before, it commits before the deadline or not at all, but for the time of COMMIT itself.
 * `before`: what begins the transaction, when nothing was asked in it yet.
 */
export async function appendAndCommit(
  connection: Connection,
  source: string,
  unit: OpenUnit,
  before?: string,
): Promise<Appended> {
  const { realmId, events, basis, bumps, numbered } = unit;
  if (events.length === 0 && bumps.length === 0 && Object.keys(basis).length === 0) {
    const last = numberedQueries(realmId, numbered).map(toLiteralSql);
    if (before === undefined)
      await connection.query([...last, unit.checkDeadline, 'COMMIT'].join('; ')).catch(refuseTakenKey);
    return { realmId, entries: [] };
  }
  const append = sql.unsafe`SELECT log.append(${realmId}, ${JSON.stringify(basis)}::jsonb, ${sql.array(bumps, 'text')}, ${source}, ${JSON.stringify(events)}::json) AS appended`;
  const statements = [
    toLiteralSql(append),
    ...(bumps.length > 0 ? passGate(realmId, source) : []),
    ...numberedQueries(realmId, numbered).map(toLiteralSql),
  ];
  const message = [...(before === undefined ? [] : [before]), ...statements, unit.checkDeadline, 'COMMIT'].join('; ');
  let results: pg.QueryResult[];
  try {
    results = (await connection.query(message)) as unknown as pg.QueryResult[];
  } catch (error) {
    if (sqlState(error) === 'NT409') {
      const { message } = error as Error;
      throw message.startsWith('gate ') ? new GateHeld(message) : new BasisChanged(message);
    }
    return refuseTakenKey(error);
  }
  const appended = appendResult.parse(
    results.find((result) => result.fields[0]?.name === 'appended')?.rows[0]?.appended,
  );
  const entries = events.map((event, index): LogEntry => {
    const marks = appended.marks ?? [];
    return {
      number: appended.first + index,
      n: 0,
      mark: marks[index] ?? 0,
      previousMark: index === 0 ? appended.previous_mark : (marks[index - 1] ?? 0),
      at: appended.at,
      event,
    };
  });
  return { realmId, entries };
}

function refuseTakenKey(error: unknown): never {
  throw isKeyTaken(error) ? new KeyTaken() : error;
}
