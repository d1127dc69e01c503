import { channelTopicOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

/** Messages of system bots do not count: otherwise no channel could be restricted to the empty topic. */
export function namedTopicsHandlers({ database }: Owner): Handlers {
  return [
    handle(channelTopicOperations.hasNamedTopics, async ({ meta }, { channel_id }) =>
      database.one(sql.type(z.object({ has_named_topics: z.boolean() }))`
        SELECT EXISTS (SELECT FROM messaging.message
          WHERE realm_id = ${meta.realmId} AND channel_id = ${channel_id} AND topic <> ''
            AND sender_id NOT IN (SELECT user_id FROM messaging.system_bot WHERE realm_id = ${meta.realmId})) AS has_named_topics`),
    ),
  ];
}
