import type { Actor, LogEvent } from '@natter/contracts';
import { type Executor, type Query, sql } from '@natter/database';
import { z } from 'zod';
import type { Destination } from '../destination.ts';
import { userTopicEvents } from '../topics/user-topic-events.ts';
import { upsertTopic, visibility } from '../topics/user-topics.ts';
import type { SenderFacts } from './sender-facts.ts';

interface After {
  events: LogEvent[];
  rows: Query[];
  own: number | undefined;
}
const nothing: After = { events: [], rows: [], own: undefined };

const situationRow = z.object({
  user_id: z.number(),
  policy: z.number().nullable(),
  follow: z.number().nullable(),
  unmute: z.number().nullable(),
  where_mentioned: z.boolean().nullable(),
  is_channel_muted: z.boolean(),
});
type Situation = z.infer<typeof situationRow>;

/** What a sender did in a topic, from which their settings say when it is enough. */
const reasons = { participation: 1, send: 2, initiation: 3 } as const;
const usualFollow = 3;
const usualUnmute = 2;

/** Topics that become followed or unmuted by sending to them, or by being mentioned there (semantics 7.1). */
export async function topicPreferencesAfter(
  executor: Executor,
  actor: Actor,
  destination: Destination,
  facts: SenderFacts,
  mentionedIds: readonly number[],
): Promise<After> {
  if (destination.kind === 'direct') return nothing;
  const concerned = [...new Set([...(actor.isBot ? [] : [actor.userId]), ...mentionedIds])];
  if (concerned.length === 0) return nothing;
  const { channel, topic } = destination;
  const setting = (name: string) => sql.fragment`(SELECT s.value FROM messaging.personal_setting s
    WHERE s.realm_id = ${actor.realmId} AND s.user_id = u.id AND s.name = ${name})`;
  const situations = await executor.any(sql.type(situationRow)`
    SELECT u.id AS user_id, t.policy, ${setting('automatically_follow_topics_policy')}::int AS follow,
      ${setting('automatically_unmute_topics_in_muted_streams_policy')}::int AS unmute,
      ${setting('automatically_follow_topics_where_mentioned')}::boolean AS where_mentioned,
      EXISTS (SELECT FROM messaging.muted_channel c WHERE c.realm_id = ${actor.realmId} AND c.user_id = u.id AND c.channel_id = ${channel.channel_id}) AS is_channel_muted
    FROM unnest(${sql.array(concerned, 'int4')}) AS u (id)
    JOIN messaging.person p ON p.realm_id = ${actor.realmId} AND p.user_id = u.id AND NOT p.is_bot
    LEFT JOIN messaging.user_topic t ON t.realm_id = ${actor.realmId} AND t.user_id = u.id AND t.channel_id = ${channel.channel_id} AND t.topic_key = lower(${topic})`);
  const after: After = { events: [], rows: [], own: undefined };
  for (const situation of situations) {
    const isSender = situation.user_id === actor.userId;
    const policy = isSender ? afterSending(situation, facts.is_new_conversation) : afterMention(situation);
    if (policy === undefined) continue;
    if (isSender) after.own = policy;
    after.rows.push(upsertTopic(actor.realmId, situation.user_id, channel.channel_id, topic, policy));
    after.events.push(...userTopicEvents(situation.user_id, channel.channel_id, topic, policy));
  }
  return after;
}

function afterSending(situation: Omit<Situation, 'user_id' | 'where_mentioned'>, isNew: boolean): number | undefined {
  const done = isNew ? reasons.initiation : reasons.send;
  const { policy, is_channel_muted } = situation;
  if ((situation.follow ?? usualFollow) <= done)
    return policy === visibility.followed ? undefined : visibility.followed;
  if (!is_channel_muted || (situation.unmute ?? usualUnmute) > done) return undefined;
  return policy === visibility.followed || policy === visibility.unmuted ? undefined : visibility.unmuted;
}

const afterMention = ({ policy, where_mentioned }: Situation): number | undefined =>
  (where_mentioned ?? true) && policy !== visibility.followed ? visibility.followed : undefined;
