import type { Actor } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { emitMutedTopics, giveTopic, visibility } from '../user-topics.ts';
import { situationColumns, situationRow } from './sender-facts.ts';
import { policyAfter, reasons } from './topic-preferences.ts';

const placeRow = situationRow.extend({ channel_id: z.number(), topic: z.string() });

/**
 * Follows or unmutes the topic of a message for a subscriber who reacts to it or answers its widget, if their settings
 * name participation as a reason. The preference keeps the spelling of its topic as first written.
 */
export async function participate(work: Work, { userId, isBot }: Actor, messageId: number): Promise<void> {
  if (isBot) return;
  const { realmId } = work;
  const place = await work.maybeOne(sql.type(placeRow)`
    SELECT m.channel_id, coalesce(t.topic, m.topic) AS topic, ${situationColumns(realmId, userId, sql.fragment`m.channel_id`)}
    FROM messaging.message m LEFT JOIN messaging.user_topic t
      ON t.realm_id = m.realm_id AND t.user_id = ${userId} AND t.channel_id = m.channel_id AND t.topic_key = lower(m.topic)
    WHERE m.realm_id = ${realmId} AND m.id = ${messageId} AND EXISTS (SELECT FROM messaging.subscription_period p
      WHERE p.realm_id = m.realm_id AND p.user_id = ${userId} AND p.channel_id = m.channel_id AND p.to_id IS NULL)`);
  if (!place) return;
  const policy = policyAfter(place, reasons.participation);
  if (policy === undefined) return;
  const { channel_id: channelId, topic, policy: before } = place;
  await giveTopic(work, userId, { channelId, topic, policy, before });
  if (before === visibility.muted) await emitMutedTopics(work, [userId]);
}
