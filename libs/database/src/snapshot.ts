import { unavailable } from '@natter/contracts';
import { z } from 'zod';
import { type Database, type Executor, executor, sql } from './database.ts';
import { isUnprepared } from './prepared.ts';
import { sqlState } from './sql-state.ts';

export interface ExportedSnapshot extends Executor {
  id: string;
}

const idRow = z.object({ id: z.string() });
const begin =
  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = '30s'; SET LOCAL lock_timeout = '5s'";

/**
 * Exports a snapshot that other roles can read in; it lasts until `work` is done. Keep it short: it holds back vacuum.
 */
export async function exportSnapshot<R>(
  database: Database,
  work: (snapshot: ExportedSnapshot) => Promise<R>,
): Promise<R> {
  return onceMore(() =>
    database.connect(async (connection) => {
      await connection.query(begin);
      const run = executor(connection.query);
      const { id } = await run.one(sql.type(idRow)`SELECT pg_export_snapshot() AS id`);
      try {
        return await work({ ...run, id });
      } catch (error) {
        // If this connection broke, the readers of the snapshot have failed already. The error of this statement names the cause.
        await connection.query('ROLLBACK');
        throw error;
      }
    }),
  );
}

/** Reads in a snapshot that another transaction exported and still holds open. */
export async function inSnapshot<R>(
  database: Database,
  id: string,
  work: (executor: Executor) => Promise<R>,
): Promise<R> {
  if (!/^[0-9A-F-]+$/.test(id)) throw unavailable(new Error('Not a snapshot id'));
  return onceMore(() =>
    database.connect(async (connection) => {
      await connection.query(`${begin}; SET TRANSACTION SNAPSHOT '${id}'`).catch((error: unknown) => {
        // The transaction that exported it has ended, for example because its connection was cut.
        throw sqlState(error) === '22023' ? unavailable(error) : error;
      });
      return work(executor(connection.query));
    }),
  );
}

async function onceMore<R>(read: () => Promise<R>): Promise<R> {
  try {
    return await read();
  } catch (error) {
    if (!isUnprepared(error)) throw error;
    return await read();
  }
}
