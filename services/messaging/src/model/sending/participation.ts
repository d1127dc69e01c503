import type { Actor } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { PersonalSetting } from '../personal-settings.ts';
import { emitMutedTopics, visibility, writeTopic } from '../user-topics.ts';
import { situationRow } from './sender-facts.ts';
import { policyAfter, reasons } from './topic-preferences.ts';

const placeRow = situationRow.extend({ channel_id: z.number(), topic: z.string() });

/**
 * Follows or unmutes the topic of a message for a subscriber who reacts to it or answers its widget, if their settings
 * name participation as a reason. The preference keeps the spelling of its topic as first written.
 */
export async function participate(work: Work, { userId, isBot }: Actor, messageId: number): Promise<void> {
  if (isBot) return;
  const { realmId } = work;
  const setting = (name: PersonalSetting) => sql.fragment`(SELECT s.value::int FROM messaging.personal_setting s
    WHERE s.realm_id = ${realmId} AND s.user_id = ${userId} AND s.name = ${name})`;
  const place = await work.maybeOne(sql.type(placeRow)`
    SELECT m.channel_id, coalesce(t.topic, m.topic) AS topic, t.policy, ${setting('automatically_follow_topics_policy')} AS follow,
      ${setting('automatically_unmute_topics_in_muted_streams_policy')} AS unmute,
      EXISTS (SELECT FROM messaging.muted_channel c
        WHERE c.realm_id = m.realm_id AND c.user_id = ${userId} AND c.channel_id = m.channel_id) AS is_channel_muted
    FROM messaging.message m LEFT JOIN messaging.user_topic t
      ON t.realm_id = m.realm_id AND t.user_id = ${userId} AND t.channel_id = m.channel_id AND t.topic_key = lower(m.topic)
    WHERE m.realm_id = ${realmId} AND m.id = ${messageId} AND EXISTS (SELECT FROM messaging.subscription_period p
      WHERE p.realm_id = m.realm_id AND p.user_id = ${userId} AND p.channel_id = m.channel_id AND p.to_id IS NULL)`);
  if (!place) return;
  const policy = policyAfter(place, reasons.participation);
  if (policy === undefined) return;
  await writeTopic(work, userId, { channelId: place.channel_id, topic: place.topic }, policy);
  if (place.policy === visibility.muted) await emitMutedTopics(work, [userId]);
}
