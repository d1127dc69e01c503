import { emptyTopicDisplayName } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import type { SnapshotFor } from '../model/snapshot-for.ts';
import { mutedTopics, named, topicRow } from '../model/user-topics.ts';
import { leftOut } from './archived.ts';

export async function mutedTopicsPart(
  executor: Executor,
  { realmId, userId, capabilities }: SnapshotFor,
): Promise<Record<string, unknown>> {
  const muted = (await mutedTopics(executor, realmId, [userId])).get(userId) ?? [];
  return { muted_topics: capabilities.empty_topic_name ? muted : named(muted) };
}

export async function userTopicsPart(
  executor: Executor,
  { realmId, userId, capabilities }: SnapshotFor,
): Promise<Record<string, unknown>> {
  const archived = await leftOut(executor, { realmId, capabilities });
  const rows = await executor.any(sql.type(topicRow)`
    SELECT channel_id, topic, policy, floor(extract(epoch FROM updated_at))::float8 AS updated FROM messaging.user_topic
    WHERE realm_id = ${realmId} AND user_id = ${userId} ORDER BY channel_id, topic_key`);
  return {
    user_topics: rows
      .filter(({ channel_id }) => !archived.has(channel_id))
      .map(({ channel_id, topic, policy, updated }) => ({
        stream_id: channel_id,
        topic_name: topic === '' && !capabilities.empty_topic_name ? emptyTopicDisplayName : topic,
        last_updated: updated,
        visibility_policy: policy,
      })),
  };
}
