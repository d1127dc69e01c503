import { type Actor, hasId, type LogEvent, totals } from '@natter/contracts';
import { type Executor, type InsertNumbered, type Numbered, sql } from '@natter/database';
import { z } from 'zod';
import { hasProtectedHistory, isSeenBy } from '../subscription-periods.ts';
import { type TopicPreference, userTopicEvents } from '../user-topic-events.ts';
import { mutesEnded, nowSeconds, visibility } from '../user-topics.ts';
import type { Destination } from './destination.ts';
import type { Sender, TopicSituation } from './sender-facts.ts';

interface After {
  events: LogEvent[];
  rows: (fromEnd: number) => Numbered[];
  own: number | undefined;
}
const nothing: After = { events: [], rows: () => [], own: undefined };

/**
 * Sends of one transaction may change the same preference: the last one counts. The clock is locked, so no change of a
 * preference is committed while they are compared.
 */
export const intoPreferences: InsertNumbered = (rows) => sql.unsafe`
  INSERT INTO messaging.user_topic (realm_id, user_id, channel_id, topic, topic_key, policy, updated_at)
  SELECT DISTINCT ON (p.realm_id, p.user_id, p.channel_id, lower(p.topic))
    p.realm_id, p.user_id, p.channel_id, p.topic, lower(p.topic), p.policy, to_timestamp(p.updated)
  FROM ${rows(sql.fragment`user_id int, channel_id int, topic text, policy int, before int, updated float8`)} p
  WHERE messaging.expect_preference(p.realm_id, p.user_id, p.channel_id, p.topic, (SELECT t.policy FROM messaging.user_topic t
    WHERE t.realm_id = p.realm_id AND t.user_id = p.user_id AND t.channel_id = p.channel_id AND t.topic_key = lower(p.topic)), p.before, p.policy)
  ORDER BY p.realm_id, p.user_id, p.channel_id, lower(p.topic), p.number DESC
  ON CONFLICT (realm_id, user_id, channel_id, topic_key) DO UPDATE SET policy = excluded.policy, updated_at = excluded.updated_at`;

const mentionedRow = z.object({
  user_id: z.number(),
  policy: z.number().nullable(),
  topic: z.string().nullable(),
  where_mentioned: z.boolean().nullable(),
});

/** A user's action in a topic, ordered by strength; settings name the minimum. */
export const reasons = { participation: 1, send: 2, initiation: 3 } as const;
const usualFollow = 3;
const usualUnmute = 2;

/** A preference that a send gives a user. */
interface Given {
  userId: number;
  policy: number;
  /** The preference before; null if the user had none for the topic. */
  before: number | null;
  /** A preference keeps the spelling of its topic as first written. */
  known: string | null | undefined;
}

/** Topics that become followed or unmuted because the user sends to them or is mentioned there. */
export async function topicPreferencesAfter(
  executor: Executor,
  { actor, author, facts }: Pick<Sender, 'actor' | 'author' | 'facts'>,
  destination: Destination,
  mentionedIds: readonly number[],
): Promise<After> {
  if (destination.kind === 'direct') return nothing;
  const { channel, topic } = destination;
  const own = actor.isBot ? undefined : await policyOfSender(executor, { actor, facts }, destination);
  const ofSender = own === undefined ? [] : [await givenToSender(executor, { actor, facts }, destination, own)];
  // The author, and users who do not receive the message, get no preference by a mention.
  const others = mentionedIds.filter((id) => id !== author.userId && hasId(destination.audience, id));
  const ofOthers = others.length === 0 ? [] : await givenToMentioned(executor, actor, destination, others);
  if (ofSender.length + ofOthers.length === 0) return nothing;
  const given = await withRoom(executor, actor.realmId, [...ofSender, ...ofOthers]);
  if (given.length === 0) return nothing;
  const updatedSeconds = nowSeconds();
  const preferences = given.map(
    ({ userId, policy, known }): TopicPreference => ({
      userId,
      channelId: channel.channel_id,
      topic: known ?? topic,
      policy,
      updatedSeconds,
    }),
  );
  const unmuted = given.filter(({ before }) => before === visibility.muted).map(({ userId }) => userId);
  const row = { channel_id: channel.channel_id, topic, updated: updatedSeconds };
  return {
    events: [...userTopicEvents(preferences), ...(unmuted.length > 0 ? [mutesEnded(unmuted)] : [])],
    rows: (from_end) =>
      given.map(({ userId, policy, before }) => ({
        into: intoPreferences,
        row: { from_end, user_id: userId, policy, before, ...row },
      })),
    own: given.some(({ userId }) => userId === actor.userId) ? own : undefined,
  };
}

/** A topic may have a million messages, of which the sender sees none. */
const newestMessages = 10_000;

/**
 * The policy that a send gives its sender. The send begins the topic if the sender has no policy for it and sees none of its
 * messages: the answer to a send must not reveal hidden ones.
 */
async function policyOfSender(
  executor: Executor,
  { actor, facts }: Pick<Sender, 'actor' | 'facts'>,
  { channel, topic }: Extract<Destination, { kind: 'channel' }>,
): Promise<number | undefined> {
  const [sent, begun] = [policyAfter(facts, reasons.send), policyAfter(facts, reasons.initiation)];
  if (facts.policy !== null || sent === begun) return sent;
  if (facts.is_new_conversation) return begun;
  if (!hasProtectedHistory(channel)) return sent;
  const seen = await executor.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT m.id FROM (SELECT n.realm_id, n.id, n.channel_id, n.sent_channel_id FROM messaging.message n
      WHERE n.realm_id = ${actor.realmId} AND n.channel_id = ${channel.channel_id} AND lower(n.topic) = lower(${topic})
      ORDER BY n.id DESC LIMIT ${newestMessages}) m WHERE ${isSeenBy(actor.userId)} LIMIT 1`);
  return seen ? sent : begun;
}

async function givenToSender(
  executor: Executor,
  { actor, facts }: Pick<Sender, 'actor' | 'facts'>,
  { channel, topic }: Extract<Destination, { kind: 'channel' }>,
  policy: number,
): Promise<Given> {
  const known = facts.policy === null ? undefined : await nameKnownTo(executor, actor, channel.channel_id, topic);
  return { userId: actor.userId, policy, before: facts.policy, known };
}

async function givenToMentioned(
  executor: Executor,
  { realmId }: Actor,
  { channel, topic }: Extract<Destination, { kind: 'channel' }>,
  userIds: readonly number[],
): Promise<Given[]> {
  const mentioned = await executor.any(sql.type(mentionedRow)`
    SELECT u.id AS user_id, t.policy, t.topic, (SELECT s.value FROM messaging.personal_setting s
      WHERE s.realm_id = ${realmId} AND s.user_id = u.id AND s.name = 'automatically_follow_topics_where_mentioned')::boolean AS where_mentioned
    FROM unnest(${sql.array([...userIds], 'int4')}) AS u (id)
    JOIN messaging.person p ON p.realm_id = ${realmId} AND p.user_id = u.id AND NOT p.is_bot
    LEFT JOIN messaging.user_topic t ON t.realm_id = ${realmId} AND t.user_id = u.id AND t.channel_id = ${channel.channel_id} AND t.topic_key = lower(${topic})`);
  // A mute takes precedence over the setting.
  const isKept = (policy: number | null): boolean => policy === visibility.followed || policy === visibility.muted;
  return mentioned
    .filter(({ where_mentioned, policy }) => (where_mentioned ?? true) && !isKept(policy))
    .map((row) => ({ userId: row.user_id, policy: visibility.followed, before: row.policy, known: row.topic }));
}

/**
 * How many preferences a user may get by messages and moves of others: fewer than the user may set, so that nobody
 * uses up the room of another.
 */
export const mostGiven = totals.topicPreferences.limit / 5;

/** The given preferences, without new ones of users who reached the limit. */
async function withRoom(executor: Executor, realmId: number, given: readonly Given[]): Promise<readonly Given[]> {
  const added = given.filter(({ before }) => before === null).map(({ userId }) => userId);
  if (added.length === 0) return given;
  const full = await executor.any(sql.type(z.object({ id: z.number() }))`
    SELECT u.id FROM unnest(${sql.array(added, 'int4')}) AS u (id)
    WHERE EXISTS (SELECT FROM messaging.user_topic t WHERE t.realm_id = ${realmId} AND t.user_id = u.id OFFSET ${mostGiven - 1})`);
  const without = new Set(full.map(({ id }) => id));
  return given.filter(({ userId, before }) => before !== null || !without.has(userId));
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

/** The policy that the user's settings give a topic after such an action; undefined if its policy stays. */
export function policyAfter(situation: TopicSituation, done: number): number | undefined {
  const { policy, is_channel_muted } = situation;
  if ((situation.follow ?? usualFollow) <= done)
    return policy === visibility.followed ? undefined : visibility.followed;
  if (!is_channel_muted || (situation.unmute ?? usualUnmute) > done) return undefined;
  return policy === visibility.followed || policy === visibility.unmuted ? undefined : visibility.unmuted;
}
