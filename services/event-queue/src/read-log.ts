import { eventQueueOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner, readRecord } from '@natter/service-kit';
import { z } from 'zod';

export const positionRow = z.object({ number: z.number(), mark: z.number(), epoch: z.number(), floor: z.number() });

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
