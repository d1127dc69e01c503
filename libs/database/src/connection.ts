import { createConnection } from 'node:net';
import { unavailable } from '@natter/contracts';
import type pg from 'pg';
import { currentDeadline, type Deadline, tooLate, untilDeadline, withDeadline } from './deadline.ts';
import { isConnectionFailure, isTimeout } from './sql-state.ts';
import type { Turns } from './turns.ts';

export interface Statement {
  /** Under which the statement is prepared. */
  name?: string;
  text: string;
  values: unknown[];
}

/** One connection, held for one piece of work. */
export interface Connection {
  readonly deadline: Deadline;
  /** A text may hold several statements; then the result is a list. Throws SERVICE_UNAVAILABLE after the deadline. */
  query(statement: Statement | string): Promise<pg.QueryResult>;
}

/** Where connections come from: `turns` has a place for each connection of the pool. */
export interface Source {
  pool: pg.Pool;
  turns: Turns;
}

/** Work without a deadline of its own (consumers, sweeps, timers): nothing holds a connection for ever. */
export const backgroundMs = 30_000;
/** How long a statement that was cancelled may still run before its connection is closed. */
const cancelGraceMs = 500;
const rollbackMs = 2_000;

/**
 * Runs `work` on a connection of the pool until the deadline: then a running statement is cancelled in Postgres and no
 * other one is sent. A transaction that `work` leaves open, on whatever path, is rolled back; a connection that failed,
 * was cancelled or could not be rolled back is not used again.
 */
export function connectWithin<R>(source: Source, work: (connection: Connection) => Promise<R>): Promise<R> {
  const deadline = currentDeadline();
  return deadline ? runOn(source, deadline, work) : withDeadline(backgroundMs, (own) => runOn(source, own, work));
}

async function runOn<R>(
  { pool, turns }: Source,
  deadline: Deadline,
  work: (connection: Connection) => Promise<R>,
): Promise<R> {
  deadline.check();
  const giveBack = await turns.take(deadline).catch((error: unknown) => {
    throw unavailable(error);
  });
  try {
    const held = hold(await checkOut(pool, deadline), deadline);
    return await runHeld(held, work);
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
    throw held.isCancelled || isTimeout(error) ? tooLate(error) : error;
  } finally {
    await held.release();
  }
}

async function checkOut(pool: pg.Pool, deadline: Deadline): Promise<pg.PoolClient> {
  const waiting = pool.connect();
  try {
    return await untilDeadline(waiting, deadline);
  } catch (error) {
    waiting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw unavailable(error);
  }
}

interface Held extends Connection {
  readonly failure: unknown;
  readonly isCancelled: boolean;
  fail(error: unknown): void;
  release(): Promise<void>;
}

function hold(client: pg.PoolClient, deadline: Deadline): Held {
  let failure: unknown;
  let active = 0;
  let isCancelled = false;
  /** A text of several statements failed: the driver has not been told yet whether a transaction is open. */
  let isUnknown = false;
  let closing: NodeJS.Timeout | undefined;
  const fail = (error: unknown): void => {
    failure ??= error;
  };
  client.on('error', fail);
  const stopWatching = deadline.onEnd(() => {
    if (active > 0) cancel();
  });

  function cancel(): void {
    isCancelled = true;
    sendCancel(client as unknown as Cancellable);
    closing = setTimeout(() => void client.end().catch(() => undefined), cancelGraceMs);
  }

  async function send(statement: Statement | string): Promise<pg.QueryResult> {
    active++;
    try {
      const result = await client.query(statement as string);
      isUnknown = false;
      return result;
    } catch (error) {
      if (typeof statement === 'string') isUnknown = true;
      throw error;
    } finally {
      active--;
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
      const isClean = client.getTransactionStatus() === 'I' && active === 0;
      // A cancellation that arrives late would hit the next statement.
      client.release(failure !== undefined || isCancelled || !isClean);
    },
  };
}

interface Cancellable {
  host: string;
  port: number;
  processID: number;
  secretKey: number;
}

const cancelRequestCode = 80_877_102;
const cancelConnectMs = 3_000;

/** Postgres takes a cancellation over a connection of its own, without authentication and before TLS. */
function sendCancel({ host, port, processID, secretKey }: Cancellable): void {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(cancelRequestCode, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  const socket = createConnection(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  socket.setTimeout(cancelConnectMs, () => socket.destroy());
  // A cancellation that does not arrive is followed by the end of the connection.
  socket.on('error', () => undefined);
  socket.end(message);
}
