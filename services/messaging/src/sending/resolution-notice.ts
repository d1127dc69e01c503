import { hasId } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import type { Destination } from '../destination.ts';
import { visibility } from '../topics/user-topics.ts';

/**
 * For whom a notice that a topic is resolved arrives unread (`resolved_topic_notice_auto_read_policy`): those who never want it
 * read for them, and those who follow the topic unless they always want it so.
 */
export async function unreadForOf(executor: Executor, realmId: number, destination: Destination): Promise<number[]> {
  if (destination.kind !== 'channel') return [];
  const policyIs = (value: string) =>
    sql.fragment`s.realm_id = ${realmId} AND s.name = 'resolved_topic_notice_auto_read_policy' AND s.value = ${JSON.stringify(value)}::jsonb`;
  const rows = await executor.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT s.user_id FROM messaging.personal_setting s WHERE ${policyIs('never')}
    UNION
    SELECT t.user_id FROM messaging.user_topic t
    WHERE t.realm_id = ${realmId} AND t.channel_id = ${destination.channel.channel_id} AND t.topic_key = lower(${destination.topic})
      AND t.policy = ${visibility.followed}
      AND NOT EXISTS (SELECT FROM messaging.personal_setting s WHERE ${policyIs('always')} AND s.user_id = t.user_id)`);
  return rows.map((row) => row.user_id).filter((id) => hasId(destination.audience, id));
}
