import type { LogEntry } from '@natter/contracts';
import { sql } from '@natter/database';
import { metaKey, promptly, queueSubject, streamKey } from '@natter/event-log';
import type { CommonConfig, Owner, Process } from '@natter/service-kit';
import { z } from 'zod';
import { endQueues } from './expiry.ts';
import { forget } from './record-cache.ts';
import type { SweepMetrics } from './sweep-metrics.ts';

/**
 * Ends the history of a realm's log of which Postgres lost the tail: the numbers of the new epoch begin beyond `beyond`,
 * and queues of older epochs end. Does nothing if `seenEpoch` is no longer the epoch, or if the record has the entry
 * that seems lost. Redis may be unavailable.
 */
export type BeginEpoch = (
  realmId: number,
  seemsLost: Pick<LogEntry, 'number' | 'mark'>,
  beyond: number,
  seenEpoch: number,
) => Promise<void>;

const epochRow = z.object({ epoch: z.number().nullable() });
const keysAtATime = 1_000;

export function createNewEpochs(
  { database, redis }: Owner,
  { log, bus }: Pick<Process<CommonConfig>, 'log' | 'bus'>,
  measured: Pick<SweepMetrics, 'epochBegan'>,
): BeginEpoch {
  return async (realmId, { number, mark }, beyond, seenEpoch) => {
    // One statement decides and writes, because two may run on different servers. Entries below the floor were deleted, and
    // no queue continues there.
    const begun = await database.maybeOne(sql.type(epochRow)`
      SELECT log.new_epoch(${realmId}, ${beyond}, ${seenEpoch}) AS epoch FROM log.position(${realmId}) p
      WHERE CASE WHEN ${number}::bigint >= p.number THEN ${number}::bigint > p.number OR ${mark}::int <> p.mark
        ELSE ${number}::bigint >= p.floor AND EXISTS (
          SELECT FROM log.read(${realmId}, ${number}, 1) e WHERE e.number = ${number}::bigint + 1 AND e.previous_mark <> ${mark}::int) END`);
    const epoch = begun?.epoch ?? null;
    if (epoch === null) return;
    measured.epochBegan();
    log.error(
      { realm: realmId, beyond, epoch },
      'the record is behind the log: a new epoch begins, queues of the old one end',
    );
    const ids = await endQueues(database, realmId, sql.fragment`epoch < ${epoch}`);
    // A stream that stays in Redis is replaced when the first entry of the new epoch does not follow its last one.
    await promptly(redis.redis.del(streamKey(realmId), metaKey(realmId))).catch((error: unknown) =>
      log.debug({ err: error, realm: realmId }, 'deleting the stream of an ended epoch failed'),
    );
    for (let at = 0; at < ids.length; at += keysAtATime) await forget(redis, realmId, ids.slice(at, at + keysAtATime));
    bus.publish(queueSubject(realmId), JSON.stringify({ epoch }));
  };
}
