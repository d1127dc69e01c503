import { eventQueueOperations } from '@natter/contracts';
import { inSnapshot, sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

export function snapshotHandlers({ database }: Owner): Handlers {
  return [
    handle(eventQueueOperations.snapshotMessaging, async ({ meta }, { snapshot, types }) => {
      if (types !== null && !types.includes('message')) return {};
      return inSnapshot(database, snapshot, async (executor) => {
        const { id } = await executor.one(
          sql.type(
            z.object({ id: z.number().nullable() }),
          )`SELECT max(id) AS id FROM messaging.message WHERE realm_id = ${meta.realmId}`,
        );
        return { max_message_id: id ?? -1 };
      });
    }),
  ];
}
