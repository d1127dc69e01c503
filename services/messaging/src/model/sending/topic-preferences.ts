import { type Actor, hasId, type LogEvent } from '@natter/contracts';
import { type Executor, type Query, sql } from '@natter/database';
import { z } from 'zod';
import { userTopicEvents } from '../user-topic-events.ts';
import { nowSeconds, upsertTopic, visibility } from '../user-topics.ts';
import type { Destination } from './destination.ts';
import type { Sender, TopicSituation } from './sender-facts.ts';

interface After {
  events: LogEvent[];
  rows: Query[];
  own: number | undefined;
}
const nothing: After = { events: [], rows: [], own: undefined };

const mentionedRow = z.object({
  user_id: z.number(),
  policy: z.number().nullable(),
  topic: z.string().nullable(),
  where_mentioned: z.boolean().nullable(),
});

/** The sender's action in a topic, ordered by strength; settings name the minimum. */
const reasons = { participation: 1, send: 2, initiation: 3 } as const;
const usualFollow = 3;
const usualUnmute = 2;

/** Topics that become followed or unmuted because the user sends to them or is mentioned there. */
export async function topicPreferencesAfter(
  executor: Executor,
  { actor, facts }: Pick<Sender, 'actor' | 'facts'>,
  destination: Destination,
  mentionedIds: readonly number[],
): Promise<After> {
  if (destination.kind === 'direct') return nothing;
  const { channel, topic } = destination;
  const after: After = { events: [], rows: [], own: undefined };
  const unmuted: number[] = [];
  // A preference keeps the spelling of its topic as first written.
  const become = (userId: number, policy: number, before: number | null, known: string | null | undefined): void => {
    if (before === visibility.muted) unmuted.push(userId);
    const preference = { userId, channelId: channel.channel_id, topic, policy, updatedSeconds: nowSeconds() };
    after.rows.push(upsertTopic(actor.realmId, preference));
    after.events.push(...userTopicEvents({ ...preference, topic: known ?? topic }));
  };
  after.own = actor.isBot ? undefined : afterSending(facts, facts.is_new_conversation);
  if (after.own !== undefined) {
    const known = facts.policy === null ? undefined : await nameKnownTo(executor, actor, channel.channel_id, topic);
    become(actor.userId, after.own, facts.policy, known);
  }
  // Users who do not receive the message get no preference.
  const others = mentionedIds.filter((id) => (id !== actor.userId || actor.isBot) && hasId(destination.audience, id));
  if (others.length === 0) return withMutesEnded(after, unmuted);
  const mentioned = await executor.any(sql.type(mentionedRow)`
    SELECT u.id AS user_id, t.policy, t.topic, (SELECT s.value FROM messaging.personal_setting s
      WHERE s.realm_id = ${actor.realmId} AND s.user_id = u.id AND s.name = 'automatically_follow_topics_where_mentioned')::boolean AS where_mentioned
    FROM unnest(${sql.array(others, 'int4')}) AS u (id)
    JOIN messaging.person p ON p.realm_id = ${actor.realmId} AND p.user_id = u.id AND NOT p.is_bot
    LEFT JOIN messaging.user_topic t ON t.realm_id = ${actor.realmId} AND t.user_id = u.id AND t.channel_id = ${channel.channel_id} AND t.topic_key = lower(${topic})`);
  for (const { user_id, policy, topic: known, where_mentioned } of mentioned)
    if ((where_mentioned ?? true) && policy !== visibility.followed)
      become(user_id, visibility.followed, policy, known);
  return withMutesEnded(after, unmuted);
}

async function nameKnownTo(
  executor: Executor,
  { realmId, userId }: Actor,
  channelId: number,
  topic: string,
): Promise<string | undefined> {
  const row = await executor.maybeOne(sql.type(z.object({ topic: z.string() }))`
    SELECT topic FROM messaging.user_topic
    WHERE realm_id = ${realmId} AND user_id = ${userId} AND channel_id = ${channelId} AND topic_key = lower(${topic})`);
  return row?.topic;
}

/** Announced to clients once the preferences are stored. */
function withMutesEnded(after: After, userIds: readonly number[]): After {
  if (userIds.length > 0)
    after.events.push({ type: 'mutes_ended', body: {}, audience: { users: { ids: [] } }, note: { user_ids: userIds } });
  return after;
}

function afterSending(situation: TopicSituation, isNew: boolean): number | undefined {
  const done = isNew ? reasons.initiation : reasons.send;
  const { policy, is_channel_muted } = situation;
  if ((situation.follow ?? usualFollow) <= done)
    return policy === visibility.followed ? undefined : visibility.followed;
  if (!is_channel_muted || (situation.unmute ?? usualUnmute) > done) return undefined;
  return policy === visibility.followed || policy === visibility.unmuted ? undefined : visibility.unmuted;
}
