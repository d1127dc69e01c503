import { idSet, sightOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle } from '@natter/service-kit';
import { z } from 'zod';
import type { Service } from '../deciding.ts';

const numberRow = z.object({ number: z.number() });
const listRow = z.object({ channel_id: z.number(), users: z.array(z.number()) });

/** The number is read first: what is committed between the two is in the list, and is told once more by its event. */
export function listSubscribersHandlers({ owner: { database } }: Service): Handlers {
  return [
    handle(sightOperations.listSubscribers, async ({ meta }) => {
      const { number } = await database.one(sql.type(numberRow)`SELECT number FROM log.position(${meta.realmId})`);
      const rows = await database.any(sql.type(listRow)`
        SELECT channel_id, json_agg(user_id) AS users FROM channels.subscription
        WHERE realm_id = ${meta.realmId} AND is_active GROUP BY channel_id`);
      return { number, channels: rows.map(({ channel_id, users }) => ({ channel_id, users: idSet(users) })) };
    }),
  ];
}
