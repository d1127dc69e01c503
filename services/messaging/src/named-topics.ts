import { channelTopicOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

export function namedTopicsHandlers({ database }: Owner): Handlers {
  return [
    handle(channelTopicOperations.hasNamedTopics, async ({ meta }, { channel_id }) =>
      database.one(sql.type(z.object({ has_named_topics: z.boolean() }))`
        SELECT EXISTS (SELECT FROM messaging.message
          WHERE realm_id = ${meta.realmId} AND channel_id = ${channel_id} AND topic <> '') AS has_named_topics`),
    ),
  ];
}
