import { sql, type Work } from '@natter/database';
import type { PostingRules } from '../model/channel-cache.ts';
import { situationColumns, situationRow } from '../model/sending/sender-facts.ts';
import { mostGiven, policyAfter, reasons } from '../model/sending/topic-preferences.ts';
import { isOpenTo } from '../model/subscription-periods.ts';
import { giveTopic } from '../model/user-topics.ts';
import { readersAmong } from './change-receivers.ts';
import type { Anchor } from './moved-messages.ts';

/**
 * Follows or unmutes a topic for the author of a message that a move made its first, as the author sees it, if their
 * settings say so for topics that they start. A preference of the author for the topic stays.
 */
export async function followBegun(
  work: Work,
  { id, sender_id: userId }: Anchor,
  messageIds: readonly number[],
  { channel, topic }: { channel: PostingRules; topic: string },
): Promise<void> {
  const { realmId } = work;
  if (!(await readersAmong(work, channel, [userId])).has(userId)) return;
  const begun = await work.maybeOne(sql.type(situationRow)`
    SELECT ${situationColumns(realmId, userId, sql.fragment`${channel.channel_id}`)}
    FROM messaging.person p LEFT JOIN messaging.user_topic t
      ON t.realm_id = ${realmId} AND t.user_id = ${userId} AND t.channel_id = ${channel.channel_id} AND t.topic_key = lower(${topic})
    WHERE p.realm_id = ${realmId} AND p.user_id = ${userId} AND NOT p.is_bot AND t.policy IS NULL
      AND NOT EXISTS (SELECT FROM messaging.message m
        WHERE m.realm_id = ${realmId} AND m.channel_id = ${channel.channel_id} AND lower(m.topic) = lower(${topic}) AND m.id < ${id}
          AND m.id <> ALL(${sql.array([...messageIds], 'int8')}) AND ${isOpenTo(userId, channel)})
      AND NOT EXISTS (
        SELECT FROM messaging.user_topic g WHERE g.realm_id = ${realmId} AND g.user_id = ${userId} OFFSET ${mostGiven - 1})`);
  const policy = begun && policyAfter(begun, reasons.initiation);
  if (policy === undefined) return;
  await giveTopic(work, userId, { channelId: channel.channel_id, topic, policy, before: null });
}
