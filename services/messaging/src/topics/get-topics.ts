import { emptyTopicDisplayName, messageReadingOperations, notLoggedIn } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { invalidChannelId } from '../model/channel-access.ts';
import { channelCopy } from '../model/reading/channel-copy.ts';
import type { Reading } from '../model/reading/reader.ts';
import { isSeenBy } from '../model/subscription-periods.ts';

const topicRow = z.object({ name: z.string(), max_id: z.number() });

export function topicHandlers({ database }: Owner, { access, policies }: Reading): Handlers {
  return [
    handle(messageReadingOperations.getTopics, async ({ actor, meta }, { stream_id, allow_empty_topic_name }) => {
      const channel = await channelCopy(database, meta.realmId, stream_id);
      if (!actor) {
        const policy = await policies.get(meta, true);
        if (!policy.settings.enable_spectator_access) throw notLoggedIn();
        if (!channel?.is_web_public) throw invalidChannelId();
      } else await access.readable(actor, meta, stream_id);
      const isOpen = !actor || !channel?.is_private || channel.history_public;
      const seen = isOpen ? sql.fragment`true` : isSeenBy(actor.userId);
      // Walks the index from topic to topic, with one look-up each.
      const topics = await database.any(sql.type(topicRow)`
        WITH RECURSIVE found (key, name, max_id) AS (
          (SELECT lower(m.topic), m.topic, m.id FROM messaging.message m
            WHERE m.realm_id = ${meta.realmId} AND m.channel_id = ${stream_id} AND ${seen} ORDER BY lower(m.topic) DESC, m.id DESC LIMIT 1)
          UNION ALL
          SELECT n.* FROM found, LATERAL (SELECT lower(m.topic), m.topic, m.id FROM messaging.message m
            WHERE m.realm_id = ${meta.realmId} AND m.channel_id = ${stream_id} AND lower(m.topic) < found.key AND ${seen}
            ORDER BY lower(m.topic) DESC, m.id DESC LIMIT 1) n
        ) SELECT name, max_id FROM found ORDER BY max_id DESC`);
      return {
        topics: topics.map(({ name, max_id }) => ({
          name: name === '' && !allow_empty_topic_name ? emptyTopicDisplayName : name,
          max_id,
        })),
      };
    }),
  ];
}
