import { type Database, sql, sqlState } from '@natter/database';
import { z } from 'zod';

const batchSize = 200;
const idleMs = 5_000;
const lockNotAvailable = '55P03';
const batchRow = z.object({ indexed: z.number().nullable() });

/**
 * Indexes messages again whose realm got another language, in batches. Each batch is followed by a pause of its own
 * length, so that at most half of one connection is used. The returned function stops it after the current batch.
 */
export function startIndexing(database: Database, onError: (error: unknown) => void): () => Promise<void> {
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer = setTimeout(run, idleMs);
  function run(): void {
    running = nextBatch(database, onError).then((pauseMs) => {
      if (!isStopped) timer = setTimeout(run, pauseMs);
    });
  }
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
}

/** Returns the pause that follows. */
async function nextBatch(database: Database, onError: (error: unknown) => void): Promise<number> {
  const begun = performance.now();
  try {
    const { indexed } = await database.one(sql.type(batchRow)`SELECT messaging.index_next(${batchSize}) AS indexed`);
    return indexed === null ? idleMs : performance.now() - begun;
  } catch (error) {
    // One of the messages is being changed.
    if (sqlState(error) !== lockNotAvailable) onError(error);
    return idleMs;
  }
}
