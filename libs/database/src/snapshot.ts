import { unavailable } from '@natter/contracts';
import { z } from 'zod';
import { type Database, type Executor, executor, sql } from './database.ts';
import { isUnprepared } from './prepared.ts';

export interface ExportedSnapshot extends Executor {
  id: string;
}

const begin =
  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = '30s'; SET LOCAL lock_timeout = '5s'";

/** Opens one point in time that other roles can read too; it lasts until `work` is done. Keep it short: it holds back vacuum. */
export async function exportSnapshot<R>(
  database: Database,
  work: (snapshot: ExportedSnapshot) => Promise<R>,
): Promise<R> {
  return onceMore(() =>
    database.connect(async (connection) => {
      await connection.query(begin);
      const run = executor(connection.query);
      const { id } = await run.one(sql.type(z.object({ id: z.string() }))`SELECT pg_export_snapshot() AS id`);
      return work({ ...run, id });
    }),
  );
}

/** Reads in a snapshot that another transaction exported and still holds. */
export async function inSnapshot<R>(
  database: Database,
  id: string,
  work: (executor: Executor) => Promise<R>,
): Promise<R> {
  if (!/^[0-9A-F-]+$/.test(id)) throw unavailable(new Error('Not a snapshot id'));
  return onceMore(() =>
    database.connect(async (connection) => {
      await connection.query(`${begin}; SET TRANSACTION SNAPSHOT '${id}'`);
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
