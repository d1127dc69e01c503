import { eventQueueOperations, type LogEntry } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Logger, type Owner, readRecord } from '@natter/service-kit';
import { z } from 'zod';
import type { BeginEpoch } from './new-epoch.ts';

export const positionRow = z.object({ number: z.number(), mark: z.number(), epoch: z.number(), floor: z.number() });

const keyRow = z.object({ source: z.string(), key: z.instanceof(Buffer) });

/** The keys with which services sign entries. */
export const readLogKeys = (database: Owner['database']) =>
  database.any(sql.type(keyRow)`SELECT source, key FROM log.keys()`);

/** How many numbers a claim of a gateway can skip. A standby that takes over lacks fewer entries. */
const maxLost = 1_000_000;

/**
 * A gateway that follows the log names the mark of its last entry. If the record lacks that entry, Postgres lost its
 * tail: a new epoch begins before the answer, so that no queue continues with a gap. Redis cannot tell if it lost the
 * tail too.
 */
export function readLogHandlers(
  { database }: Owner,
  { log, beginEpoch }: { log: Logger; beginEpoch: BeginEpoch },
): Handlers {
  const position = (realmId: number) =>
    database.one(sql.type(positionRow)`SELECT number, mark, epoch, floor FROM log.position(${realmId})`);
  return [
    handle(eventQueueOperations.readLog, async ({ meta: { realmId } }, { after, limit, mark }) => {
      let entries = await readRecord(database, realmId, after, Math.min(limit, 1_000));
      let clock = await position(realmId);
      if (mark !== undefined && isLost({ number: after, mark }, clock, entries[0])) {
        log.error(
          { realm: realmId, number: after, record: clock.number },
          'the record lacks an entry that a gateway has',
        );
        const beyond = Math.min(Math.max(after, clock.number), clock.number + maxLost);
        await beginEpoch(realmId, { number: after, mark }, beyond, clock.epoch);
        entries = [];
        clock = await position(realmId);
      }
      return { clock: clock.number, mark: clock.mark, epoch: clock.epoch, floor: clock.floor, entries };
    }),
  ];
}

/** Whether the record does not have an entry of the log. `next`: the first entry of the record after it. */
function isLost(
  entry: Pick<LogEntry, 'number' | 'mark'>,
  clock: Pick<LogEntry, 'number' | 'mark'>,
  next: LogEntry | undefined,
): boolean {
  if (entry.number >= clock.number) return entry.number > clock.number || entry.mark !== clock.mark;
  return next?.number === entry.number + 1 && next.previousMark !== entry.mark;
}
