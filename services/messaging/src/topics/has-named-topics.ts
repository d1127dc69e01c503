import { channelTopicOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

/** Messages of system bots do not count: otherwise no channel could be restricted to the empty topic. */
export function namedTopicsHandlers({ database }: Owner): Handlers {
  return [
    handle(channelTopicOperations.hasNamedTopics, async ({ meta }, { channel_id }) => {
      // Read in an earlier statement, so that the next statement reads all messages up to this number.
      const { number: through } = await database.one(
        sql.type(z.object({ number: z.number() }))`SELECT number FROM log.position(${meta.realmId})`,
      );
      const { has_named_topics } = await database.one(sql.type(z.object({ has_named_topics: z.boolean() }))`
        SELECT EXISTS (SELECT FROM messaging.message
          WHERE realm_id = ${meta.realmId} AND channel_id = ${channel_id} AND topic <> ''
            AND sender_id NOT IN (SELECT user_id FROM messaging.system_bot WHERE realm_id = ${meta.realmId})) AS has_named_topics`);
      return { has_named_topics, through };
    }),
  ];
}
