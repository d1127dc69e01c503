import { type Database, deleteInBatches, sql } from '@natter/database';
import { isCallKey } from './answer-once.ts';
import { repeat } from './repeat.ts';

const forgetEveryMs = 30_000;
/** Calls are repeated within the deadline of their request: a few seconds. */
const callSeconds = 120;

/**
 * Deletes stored answers that can no longer be requested: those under a client's key after a day, those of calls after
 * two minutes.
 */
export function forgetAnswers(
  database: Database,
  schema: string,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const ofCalls = sql.fragment`${isCallKey} AND created_at < now() - make_interval(secs => ${callSeconds})`;
  const ofClients = sql.fragment`NOT ${isCallKey} AND created_at < now() - interval '24 hours'`;
  const forget = async (isStopped: () => boolean): Promise<void> => {
    await deleteInBatches(database, `${schema}.idempotency`, ofCalls, isStopped);
    await deleteInBatches(database, `${schema}.idempotency`, ofClients, isStopped);
  };
  return repeat({ everyMs: forgetEveryMs, onError }, forget);
}
