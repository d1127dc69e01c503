import { type Database, inBatches, sql } from '@natter/database';
import { isCallKey } from './answer-once.ts';
import { repeat } from './repeat.ts';

const forgetEveryMs = 30_000;
/** Calls are repeated within the deadline of their request: a few seconds. */
const callSeconds = 120;
const batchSize = 5_000;

/**
 * Deletes stored answers that can no longer be requested: those under a client's key after a day, those of calls after
 * two minutes.
 */
export function forgetAnswers(
  database: Database,
  schema: string,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const table = sql.identifier([schema, 'idempotency']);
  const forgetWhere = (isStopped: () => boolean, condition: ReturnType<typeof sql.fragment>): Promise<void> =>
    inBatches(batchSize, isStopped, () =>
      database.run(sql.unsafe`
        DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))`),
    );
  const forget = async (isStopped: () => boolean): Promise<void> => {
    await forgetWhere(
      isStopped,
      sql.fragment`${isCallKey} AND created_at < now() - make_interval(secs => ${callSeconds})`,
    );
    await forgetWhere(isStopped, sql.fragment`NOT ${isCallKey} AND created_at < now() - interval '24 hours'`);
  };
  return repeat({ everyMs: forgetEveryMs, onError }, forget);
}
