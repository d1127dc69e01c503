import { type Database, sql, sqlState } from '@natter/database';
import { z } from 'zod';

const largestBatch = 200;
/** A batch locks its messages, so users cannot change them for this time. */
const batchMs = 500;
const idleMs = 5_000;
const lockNotAvailable = '55P03';
const batchRow = z.object({ indexed: z.number().nullable() });

/**
 * Indexes messages again whose realm got another language, in batches. Each batch is followed by a pause of its own
 * length, so that at most half of one connection is used. Messages can need a thousand times as long as usual: the size
 * of a batch follows the time of the one before, so that it is never cancelled again and again. The returned function
 * stops it after the current batch.
 */
export function startIndexing(database: Database, onError: (error: unknown) => void): () => Promise<void> {
  let isStopped = false;
  let size = largestBatch;
  let running: Promise<void> = Promise.resolve();
  let timer = setTimeout(run, idleMs);
  function run(): void {
    running = nextBatch(database, size, onError).then((next) => {
      size = next.size;
      if (!isStopped) timer = setTimeout(run, next.pauseMs);
    });
  }
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
}

/** Returns the pause that follows, and the size of the batch after it. */
async function nextBatch(
  database: Database,
  size: number,
  onError: (error: unknown) => void,
): Promise<{ pauseMs: number; size: number }> {
  const begun = performance.now();
  try {
    const { indexed } = await database.one(sql.type(batchRow)`SELECT messaging.index_next(${size}) AS indexed`);
    const tookMs = performance.now() - begun;
    return { pauseMs: indexed === null ? idleMs : tookMs, size: fitting(size, tookMs) };
  } catch (error) {
    // Another transaction changes one of the messages.
    if (sqlState(error) === lockNotAvailable) return { pauseMs: idleMs, size };
    onError(error);
    return { pauseMs: idleMs, size: fitting(size, performance.now() - begun) };
  }
}

/** The size of the next batch, so that it takes about `batchMs`; at most twice the last size. */
function fitting(size: number, tookMs: number): number {
  const next = Math.floor((size * batchMs) / Math.max(tookMs, 1));
  return Math.max(1, Math.min(next, 2 * size, largestBatch));
}
