import { emptyTopicDisplayName, maxTopics, messageReadingOperations, notLoggedIn } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { invalidChannelId } from '../model/channel-access.ts';
import { channelCopy, isOpenToSpectators } from '../model/reading/channel-copy.ts';
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
        if (!isOpenToSpectators(channel)) throw invalidChannelId();
      } else await access.readable(actor, meta, stream_id);
      const isOpen = !actor || !channel?.is_private || channel.history_public;
      const seen = isOpen ? sql.fragment`true` : isSeenBy(actor.userId);
      const of = { realmId: meta.realmId, channelId: stream_id, seen };
      const topics = (await allTopics(database, of)) ?? (await newestTopics(database, of));
      return {
        topics: topics.map(({ name, max_id }) => ({
          name: name === '' && !allow_empty_topic_name ? emptyTopicDisplayName : name,
          max_id,
        })),
      };
    }),
  ];
}

interface Of {
  realmId: number;
  channelId: number;
  seen: ReturnType<typeof sql.fragment>;
}
type Topic = z.infer<typeof topicRow>;

/**
 * The newest first; undefined if there are too many. Walks the index from topic to topic, with one look-up each. The rows
 * are compared as the index orders them: with equal realm and channel as conditions, PostgreSQL sorts all messages of a
 * channel at each look-up if the channel is new to its statistics.
 */
async function allTopics(executor: Executor, { realmId, channelId, seen }: Of): Promise<Topic[] | undefined> {
  const channel = sql.fragment`${realmId}::int, ${channelId}::int`;
  const before = (end: ReturnType<typeof sql.fragment>) => sql.fragment`
    SELECT lower(m.topic), m.topic, m.id FROM messaging.message m
    WHERE ROW(m.realm_id, m.channel_id) >= ROW(${channel}) AND m.channel_id IS NOT NULL AND ${end} AND ${seen}
    ORDER BY m.realm_id DESC, m.channel_id DESC, lower(m.topic) DESC, m.id DESC LIMIT 1`;
  const topics = await executor.any(sql.type(topicRow)`
    WITH RECURSIVE found (key, name, max_id) AS (
      (${before(sql.fragment`ROW(m.realm_id, m.channel_id) <= ROW(${channel})`)})
      UNION ALL
      SELECT n.* FROM found, LATERAL (
        ${before(sql.fragment`ROW(m.realm_id, m.channel_id, lower(m.topic), m.id) < ROW(${channel}, found.key, 0::bigint)`)}) n
    ) SELECT name, max_id FROM found LIMIT ${maxTopics + 1}`);
  return topics.length > maxTopics ? undefined : topics.toSorted((a, b) => b.max_id - a.max_id);
}

/** The topics of the newest messages of a channel with too many topics. */
async function newestTopics(executor: Executor, { realmId, channelId, seen }: Of): Promise<Topic[]> {
  const topics = await executor.any(sql.type(topicRow)`
    SELECT DISTINCT ON (lower(topic)) topic AS name, id AS max_id
    FROM (SELECT m.topic, m.id FROM messaging.message m WHERE m.realm_id = ${realmId} AND m.channel_id = ${channelId} AND ${seen}
      ORDER BY m.id DESC LIMIT ${5 * maxTopics}) newest
    ORDER BY lower(topic), id DESC`);
  return topics.toSorted((a, b) => b.max_id - a.max_id).slice(0, maxTopics);
}
