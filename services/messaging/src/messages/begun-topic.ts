import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { PostingRules } from '../model/channel-cache.ts';
import { situationColumns, situationRow } from '../model/sending/sender-facts.ts';
import { mostGiven, policyAfter, reasons } from '../model/sending/topic-preferences.ts';
import { isOpenTo } from '../model/subscription-periods.ts';
import { giveTopic, visibility } from '../model/user-topics.ts';
import { readersAmong } from './change-receivers.ts';
import type { Anchor } from './moved-messages.ts';

const begunRow = situationRow.extend({ topic: z.string() });

/**
 * Follows or unmutes a topic for the author of a message that a move made its first, as the author sees it, if their
 * settings say so for topics that they start. The preference keeps the spelling of its topic as first written.
 */
export async function followBegun(
  work: Work,
  { id, sender_id: userId }: Anchor,
  messageIds: readonly number[],
  { channel, topic }: { channel: PostingRules; topic: string },
): Promise<void> {
  const { realmId } = work;
  if (!(await readersAmong(work, channel, [userId])).has(userId)) return;
  const begun = await work.maybeOne(sql.type(begunRow)`
    SELECT coalesce(t.topic, ${topic}) AS topic, ${situationColumns(realmId, userId, sql.fragment`${channel.channel_id}`)}
    FROM messaging.person p LEFT JOIN messaging.user_topic t
      ON t.realm_id = ${realmId} AND t.user_id = ${userId} AND t.channel_id = ${channel.channel_id} AND t.topic_key = lower(${topic})
    WHERE p.realm_id = ${realmId} AND p.user_id = ${userId} AND NOT p.is_bot
      AND NOT EXISTS (SELECT FROM messaging.message m
        WHERE m.realm_id = ${realmId} AND m.channel_id = ${channel.channel_id} AND lower(m.topic) = lower(${topic}) AND m.id < ${id}
          AND m.id <> ALL(${sql.array([...messageIds], 'int8')}) AND ${isOpenTo(userId, channel)})
      AND (t.policy IS NOT NULL OR NOT EXISTS (
        SELECT FROM messaging.user_topic g WHERE g.realm_id = ${realmId} AND g.user_id = ${userId} OFFSET ${mostGiven - 1}))`);
  // A mute takes precedence over the setting.
  if (!begun || begun.policy === visibility.muted) return;
  const policy = policyAfter(begun, reasons.initiation);
  if (policy === undefined) return;
  const given = { channelId: channel.channel_id, topic: begun.topic, policy, before: begun.policy };
  await giveTopic(work, userId, given);
}
