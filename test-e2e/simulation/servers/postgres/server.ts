import type { Random } from '../../../random.ts';
import type { Failure, PostgresServer, Result, Session } from './call.ts';
import { createLocks } from './locks.ts';
import { PostgresError } from './postgres-error.ts';
import { findShape } from './shapes.ts';
import { type Parsed, parseStatements } from './statement.ts';
import { Store, Transaction } from './transaction.ts';

interface Timing {
  now(): number;
  after(ms: number, work: () => void): () => void;
}

/** Stand-in for PostgreSQL, limited to the statements that the simulated services send. */
export function createPostgresServer(random: Random, { now, after }: Timing): PostgresServer {
  const locks = createLocks(after);
  const server: PostgresServer = {
    store: new Store(),
    random,
    now,
    open,
    refusal: undefined,
    clockHeld: 0,
    onExecuted: undefined,
    onClosed: undefined,
    onCommit: undefined,
    get locksHeld() {
      return locks.size;
    },
  };
  return server;

  function open(role: string): Session {
    let tx: Transaction | undefined;
    let isFailed = false;
    let isClosed = false;
    let isImplicit = false;
    let stopIdle: () => void = () => undefined;

    const session: Session = {
      get status() {
        return tx ? (isFailed ? 'E' : 'T') : 'I';
      },
      async execute(text, parameters, failure) {
        stopIdle();
        try {
          const results = await executeAll(parseStatements(text, parameters), failure);
          server.onExecuted?.({ session, role, text, parameters, outcome: results });
          return results;
        } catch (error) {
          server.onExecuted?.({ session, role, text, parameters, outcome: error as Error });
          throw error;
        } finally {
          if (tx && !isClosed) stopIdle = after(tx.idleMs, () => session.close());
        }
      },
      cancel() {
        if (tx) locks.interrupt(tx, new PostgresError('57014', 'canceling statement due to user request'));
      },
      close() {
        isClosed = true;
        server.onClosed?.(session);
        stopIdle();
        end()?.rollBack();
      },
    };

    async function executeAll(statements: Parsed[], failure: Failure | undefined): Promise<Result[]> {
      const results: Result[] = [];
      const failsAt = failure && Math.min(failure.at, statements.length - 1);
      for (const [index, statement] of statements.entries()) {
        if (isClosed) throw terminated();
        try {
          if (failure && index === failsAt) throw failureOf(statement, failure);
          results.push(await executeOne(statement));
        } catch (error) {
          if (isImplicit) end()?.rollBack();
          else if (tx) {
            isFailed = true;
            // PostgreSQL releases the locks at the error, before the client rolls back.
            tx.rollBack();
          }
          throw error;
        }
      }
      return results;
    }

    /** A failed COMMIT ends the transaction. */
    function failureOf({ shape }: Parsed, { error }: Failure): PostgresError {
      if (shape === 'COMMIT' || shape === 'ROLLBACK') end()?.rollBack();
      return error;
    }

    async function executeOne({ shape, values }: Parsed): Promise<Result> {
      const [word] = shape.split(' ', 1);
      if (word === 'BEGIN') {
        tx ??= new Transaction(server.store, locks, now());
        if (shape.includes('REPEATABLE READ')) tx.isSnapshot = true;
        return nothing;
      }
      if (word === 'COMMIT' || word === 'ROLLBACK') {
        const isCommit = word === 'COMMIT' && !isFailed;
        const ended = end();
        if (!ended) return nothing;
        if (isCommit) commit(ended);
        else ended.rollBack();
        return nothing;
      }
      if (isFailed) throw new PostgresError('25P02', 'current transaction is aborted');
      if (word === 'SET') {
        if (tx && shape.startsWith('SET LOCAL lock_timeout')) tx.lockTimeoutMs = millisecondsOf(values[0]);
        if (tx && shape.startsWith('SET LOCAL idle_in')) tx.idleMs = millisecondsOf(values[0]);
        return nothing;
      }
      isImplicit = !tx;
      tx ??= new Transaction(server.store, locks, now());
      const mine = tx;
      const result = await findShape(shape)({ tx: mine, values, role, server });
      if (isClosed) throw terminated();
      if (mine.hasWritten && server.refusal) throw server.refusal;
      if (isImplicit) {
        end();
        commit(mine);
      }
      return result;
    }

    function commit(ended: Transaction): void {
      ended.commit();
      server.onCommit?.();
    }

    function end(): Transaction | undefined {
      const ended = tx;
      tx = undefined;
      isFailed = false;
      isImplicit = false;
      return ended;
    }

    return session;
  }
}

const terminated = (): PostgresError =>
  new PostgresError('57P01', 'terminating connection due to administrator command');
const nothing: Result = { rows: [], rowCount: 0, fields: [] };

const millisecondsOf = (value: unknown): number => {
  const text = String(value);
  return text.endsWith('ms') || !text.endsWith('s') ? Number.parseFloat(text) : Number.parseFloat(text) * 1_000;
};
