import { eventQueueOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner, readRecord } from '@natter/service-kit';
import { z } from 'zod';

export const positionRow = z.object({ number: z.number(), mark: z.number(), epoch: z.number(), floor: z.number() });

const keyRow = z.object({ source: z.string(), key: z.instanceof(Buffer) });

/** The keys with which services sign entries. */
export const readLogKeys = (database: Owner['database']) =>
  database.any(sql.type(keyRow)`SELECT source, key FROM log.keys()`);

export function readLogHandlers({ database }: Owner): Handlers {
  return [
    handle(eventQueueOperations.readLog, async ({ meta }, { after, limit }) => {
      const entries = await readRecord(database, meta.realmId, after, Math.min(limit, 1_000));
      const clock = await database.one(
        sql.type(positionRow)`SELECT number, mark, epoch, floor FROM log.position(${meta.realmId})`,
      );
      return { clock: clock.number, epoch: clock.epoch, floor: clock.floor, entries };
    }),
  ];
}
