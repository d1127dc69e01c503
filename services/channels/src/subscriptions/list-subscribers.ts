import { idSet, userVisibilityOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle } from '@natter/service-kit';
import { z } from 'zod';
import type { Service } from '../model/deciding.ts';

const numberRow = z.object({ number: z.number() });
const listRow = z.object({ channel_id: z.number(), users: z.array(z.number()) });

/** The number is read first: a change committed in between is in the list, and its event repeats it. */
export function listSubscribersHandlers({ owner: { database } }: Service): Handlers {
  return [
    handle(userVisibilityOperations.listSubscribers, async ({ meta }) => {
      const { number } = await database.one(sql.type(numberRow)`SELECT number FROM log.position(${meta.realmId})`);
      const rows = await database.any(sql.type(listRow)`
        SELECT channel_id, json_agg(user_id) AS users FROM channels.subscription
        WHERE realm_id = ${meta.realmId} AND is_active GROUP BY channel_id`);
      return { number, channels: rows.map(({ channel_id, users }) => ({ channel_id, users: idSet(users) })) };
    }),
  ];
}
