import { createConnection } from 'node:net';
import { ChatError, unavailable } from '@natter/contracts';
import type pg from 'pg';
import { addCost, costOfRead, costOfStatement, isRead } from './cost.ts';
import { currentDeadline, type Deadline, tooLate, untilDeadline, withDeadline } from './deadline.ts';
import type { FreedConnections } from './freed-connections.ts';
import type { LostStatements } from './lost-statements.ts';
import { RefusedLogin } from './refused-login.ts';
import { isCommitRefused, isConnectionFailure, isRefusedForNow, isTimeout, sqlState } from './sql-state.ts';
import { type Turns, withPriority } from './turns.ts';
import { UnknownOutcome, watchReplication } from './unknown-outcome.ts';

export interface Statement {
  /** Name under which the statement is prepared. */
  name?: string;
  text: string;
  values: unknown[];
}

/** One connection, held for one piece of work. */
export interface Connection {
  readonly deadline: Deadline;
  /**
   * The text may contain several statements; then the result is a list. Throws SERVICE_UNAVAILABLE after the deadline.
   */
  query(statement: Statement | string): Promise<pg.QueryResult>;
}

/** A pool, with a place in `turns` for each of its connections. */
export interface Source {
  pool: pg.Pool;
  turns: Turns;
  freed: FreedConnections;
  /** Cancels the statement that runs on a connection. */
  cancel: (client: pg.PoolClient) => void;
  /** Finds broken connections. Without it, a statement whose connection breaks without notice fails at its deadline. */
  lost?: LostStatements;
}

/** Deadline of work without its own (consumers, sweeps, timers), so that no work holds a connection forever. */
const backgroundMs = 30_000;
/** How long a cancelled statement may still run before its connection is closed. */
const cancelGraceMs = 500;
const rollbackMs = 2_000;
const readOnly = '25006';
/** A connection of this age is closed if its server is read-only. */
const readOnlyAgeMs = 1_000;
/** When each connection was first used, in terms of `performance.now()`. */
const firstUsedAt = new WeakMap<pg.PoolClient, number>();
/** Time for an attempt to get a connection if the patience of the work has ended already. */
const shortestAttemptMs = 1_000;

/**
 * Runs `work` on a connection of the pool until the deadline. At the deadline the running statement is cancelled in Postgres,
 * and no other one is sent. A transaction that `work` leaves open is rolled back in every case. A connection is not reused if it
 * failed, if a statement was cancelled, or if the rollback failed. Neither is a connection to a read-only server: it may lead
 * to a standby since a failover, while new connections lead to the primary. If the wait of a commit for a standby was
 * cancelled, the outcome counts as unknown, as if the connection was lost.
 */
export function connectWithin<R>(source: Source, work: (connection: Connection) => Promise<R>): Promise<R> {
  const deadline = currentDeadline();
  return deadline ? runOn(source, deadline, work) : withDeadline(backgroundMs, (own) => runOn(source, own, work));
}

async function runOn<R>(source: Source, deadline: Deadline, work: (connection: Connection) => Promise<R>): Promise<R> {
  const { turns } = source;
  deadline.check();
  const giveBack = await turns.take(deadline).catch((error: unknown) => {
    throw unavailable(error);
  });
  try {
    const held = hold(await checkOut(source, deadline), deadline, source);
    // If the work needs another connection, it does not queue behind work that may wait for its present one.
    return await withPriority(() => runHeld(held, work));
  } finally {
    giveBack();
  }
}

async function runHeld<R>(held: Held, work: (connection: Connection) => Promise<R>): Promise<R> {
  try {
    return await work(held);
  } catch (error) {
    if (isConnectionFailure(error)) held.fail(error);
    if (held.failure !== undefined) throw unavailable(held.failure);
    // PostgreSQL counts by its own clock, which may have been set forward meanwhile.
    const isEarly = isCommitRefused(error) && !held.isCancelled && !held.deadline.hasEnded;
    throw !isEarly && (held.isCancelled || isTimeout(error)) ? tooLate(error) : error;
  } finally {
    await held.release();
  }
}

/**
 * Waits for a while if PostgreSQL takes no connections, for example because it restarts, or refuses the login. Nothing was sent
 * yet, so every failure passes. Another work may give its connection back meanwhile.
 */
async function checkOut(source: Source, deadline: Deadline): Promise<pg.PoolClient> {
  const { pool, freed } = source;
  const { patience } = deadline;
  const shortestUntil = performance.now() + shortestAttemptMs;
  for (;;) {
    const began = performance.now();
    try {
      if (!patience.hasStarted) return await checkOutOnce(source, deadline);
      // At least one attempt, because the failure before may have been that of one connection.
      const leftMs = Math.max(patience.remainingMs(), shortestAttemptMs);
      return await withDeadline(leftMs, (attempt) => checkOutOnce(source, attempt));
    } catch (error) {
      if (error instanceof ChatError || pool.ending) throw unavailable(error);
      const isRefused = !isConnectionFailure(error);
      const mayWait = patience.remainingMs(began) > 0 || (isRefused && performance.now() < shortestUntil);
      if (!mayWait) throw unavailable(isRefused && !isRefusedForNow(error) ? new RefusedLogin(error) : error);
      // A refused login costs PostgreSQL more than a refused connection.
      const restMs = isRefused && !isRefusedForNow(error) ? 200 : 50;
      if (!(pool.idleCount > 0)) await freed.wait(restMs * (1 + Math.random()));
    }
  }
}

async function checkOutOnce({ pool, lost, freed }: Source, deadline: Deadline): Promise<pg.PoolClient> {
  for (;;) {
    const waiting = pool.connect();
    try {
      const client = await untilDeadline(waiting, deadline);
      if (!lost?.isSuspect(client)) return client;
      client.release(true);
    } catch (error) {
      waiting.then(
        (client) => {
          client.release();
          freed.wakeNext();
        },
        () => undefined,
      );
      throw error;
    }
  }
}

interface Held extends Connection {
  readonly failure: unknown;
  readonly isCancelled: boolean;
  fail(error: unknown): void;
  release(): Promise<void>;
}

function hold(client: pg.PoolClient, deadline: Deadline, { cancel: cancelOn, lost, freed }: Source): Held {
  let failure: unknown;
  let active = 0;
  let isCancelled = false;
  /** Whether it is unknown if a transaction is open, because a message with several statements failed. */
  let isUnknown = false;
  let isReadOnly = false;
  const usedSince = firstUsedAt.get(client) ?? performance.now();
  firstUsedAt.set(client, usedSince);
  let closing: NodeJS.Timeout | undefined;
  const fail = (error: unknown): void => {
    failure ??= error;
  };
  client.on('error', fail);
  const replication = watchReplication(client);
  const stopWatching = deadline.onEnd(() => {
    if (active > 0) cancel();
  });

  function cancel(): void {
    isCancelled = true;
    cancelOn(client);
    closing = setTimeout(() => void client.end().catch(() => undefined), cancelGraceMs);
  }

  async function send(statement: Statement | string): Promise<pg.QueryResult> {
    active++;
    const sentAt = performance.now();
    const isAlone = !isUnknown && client.getTransactionStatus() === 'I';
    const ended = lost?.sent(client);
    let isAnswered = false;
    try {
      const result = await client.query(statement as string);
      isAnswered = true;
      isUnknown = false;
      if (replication.wasCancelled() || (isCancelled && isCommit(statement))) throw new UnknownOutcome();
      return result;
    } catch (error) {
      if (typeof statement === 'string') isUnknown = true;
      if (sqlState(error) === readOnly) isReadOnly = performance.now() - usedSince >= readOnlyAgeMs;
      throw error;
    } finally {
      ended?.(isAnswered);
      active--;
      const tookMs = performance.now() - sentAt;
      const isLockless = isAlone && typeof statement !== 'string' && isRead(statement.text);
      addCost(isLockless ? costOfRead(tookMs) : costOfStatement(tookMs));
    }
  }

  async function rollBack(): Promise<void> {
    if (failure !== undefined || isCancelled || (!isUnknown && client.getTransactionStatus() === 'I')) return;
    const timer = setTimeout(() => void client.end().catch(() => undefined), rollbackMs);
    await send('ROLLBACK').catch(fail);
    clearTimeout(timer);
  }

  return {
    deadline,
    get failure() {
      return failure;
    },
    get isCancelled() {
      return isCancelled;
    },
    fail,
    query: async (statement) => {
      deadline.check();
      return send(statement);
    },
    async release() {
      stopWatching();
      await rollBack();
      clearTimeout(closing);
      client.off('error', fail);
      replication.stop();
      const isClean = client.getTransactionStatus() === 'I' && active === 0;
      // A late cancellation would hit the next statement.
      client.release(failure !== undefined || isCancelled || isReadOnly || !isClean);
      freed.wakeNext();
    },
  };
}

const isCommit = (statement: Statement | string): boolean =>
  typeof statement === 'string' && statement.endsWith('COMMIT');

interface Cancellable {
  host: string;
  port: number;
  processID: number;
  secretKey: number;
}

const cancelRequestCode = 80_877_102;
const cancelConnectMs = 3_000;

/** Postgres accepts a cancellation over a separate connection, without authentication and before TLS. */
export function sendCancel(client: pg.PoolClient): void {
  const { host, port, processID, secretKey } = client as unknown as Cancellable;
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(cancelRequestCode, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  const socket = createConnection(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  socket.setTimeout(cancelConnectMs, () => socket.destroy());
  // If the cancellation does not arrive, the connection is closed.
  socket.on('error', () => undefined);
  socket.end(message);
}
