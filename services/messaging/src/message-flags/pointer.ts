import { messageReadingOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';

/** The position up to which the user has read, according to an older client. Nothing else depends on it. */
export function pointerHandlers({ database }: Owner): Handlers {
  return [
    handle(messageReadingOperations.getPointer, async ({ actor }) => {
      const row = await database.maybeOne(sql.type(z.object({ pointer: z.number() }))`
        SELECT pointer FROM messaging.pointer WHERE realm_id = ${actor.realmId} AND user_id = ${actor.userId}`);
      return { pointer: row?.pointer ?? -1 };
    }),

    handleWrite(messageReadingOperations.setPointer, (context, { pointer }) => {
      const { actor } = context;
      return context.write(async (work) => {
        await work.run(sql.unsafe`
          INSERT INTO messaging.pointer AS p (realm_id, user_id, pointer) VALUES (${actor.realmId}, ${actor.userId}, ${pointer})
          ON CONFLICT (realm_id, user_id) DO UPDATE SET pointer = greatest(p.pointer, excluded.pointer)`);
        return {};
      });
    }),
  ];
}
