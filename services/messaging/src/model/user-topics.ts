import { emptyTopicDisplayName, idSet, type LogEvent, roles } from '@natter/contracts';
import { type Executor, lockForEach, type Query, sql, VersionsChanged, type Work } from '@natter/database';
import { z } from 'zod';
import { type TopicPreference, userTopicEvent, userTopicEvents } from './user-topic-events.ts';

export const visibility = { inherit: 0, muted: 1, unmuted: 2, followed: 3 } as const;

export const topicRow = z.object({
  channel_id: z.number(),
  topic: z.string(),
  policy: z.number(),
  updated: z.number(),
});

/** Writes a preference and emits its events; the caller emits the list for clients that support mutes only. */
export async function writeTopic(
  work: Work,
  userId: number,
  { channelId, topic }: Place,
  policy: number,
): Promise<void> {
  const preference = { userId, channelId, topic, policy, updatedSeconds: nowSeconds() };
  await work.run(
    policy === visibility.inherit
      ? sql.unsafe`DELETE FROM messaging.user_topic WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND channel_id = ${channelId} AND topic_key = lower(${topic})`
      : upsertTopic(work.realmId, preference),
  );
  work.emit(userTopicEvent([userId], preference));
}

interface Given extends Place {
  policy: number;
  /** The preference that the decision used; null if there was none. */
  before: number | null;
}

/**
 * Like `writeTopic`, for a preference that follows from something else that the user did. If the user changed it
 * meanwhile, the request is decided again.
 */
export async function giveTopic(work: Work, userId: number, { before, ...given }: Given): Promise<void> {
  const preference = { userId, ...given, updatedSeconds: nowSeconds() };
  const written = await work.run(
    before === null
      ? sql.unsafe`${insertTopic(work.realmId, preference)} ON CONFLICT DO NOTHING`
      : sql.unsafe`UPDATE messaging.user_topic SET policy = ${given.policy}, updated_at = to_timestamp(${preference.updatedSeconds})
          WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND channel_id = ${given.channelId} AND topic_key = lower(${given.topic})
            AND policy = ${before}`,
  );
  if (written === 0) throw new VersionsChanged(`preference of user ${userId} for a topic`, 'row');
  work.emit(userTopicEvent([userId], preference));
}

/** The time of a change in seconds, as in its event and in later registers. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

const insertTopic = (realmId: number, { userId, channelId, topic, policy, updatedSeconds }: TopicPreference) =>
  sql.fragment`INSERT INTO messaging.user_topic (realm_id, user_id, channel_id, topic, topic_key, policy, updated_at)
    VALUES (${realmId}, ${userId}, ${channelId}, ${topic}, lower(${topic}), ${policy}, to_timestamp(${updatedSeconds}))`;
const replaces = sql.fragment`(realm_id, user_id, channel_id, topic_key) DO UPDATE SET policy = excluded.policy, updated_at = excluded.updated_at`;
const upsertTopic = (realmId: number, preference: TopicPreference): Query =>
  sql.unsafe`${insertTopic(realmId, preference)} ON CONFLICT ${replaces}`;

/** Users whose lists of mutes one statement reads, and one event names. */
export const usersAtOnce = 50;

/** Has the lists of mutes of these users announced some time after the commit, once for all changes until then. */
export function announceMutes(work: Work, userIds: readonly number[]): void {
  for (let from = 0; from < userIds.length; from += usersAtOnce)
    work.emit(mutesEnded(userIds.slice(from, from + usersAtOnce)));
}

/** The event that makes a consumer emit the lists of muted topics of these users. */
export const mutesEnded = (userIds: readonly number[]): LogEvent => ({
  type: 'mutes_ended',
  body: {},
  audience: { users: { ids: [] } },
  note: { user_ids: [...userIds] },
});

/**
 * Serialized per user, so that the last announced list is the final one. Users with the same list share an event.
 * Only the consumer passes several users: two units that each lock several could wait for each other.
 */
export async function emitMutedTopics(work: Work, userIds: readonly number[]): Promise<void> {
  await lockForEach(work, 'muted-topics', userIds);
  const lists = await mutedTopics(work, work.realmId, userIds);
  const users = Map.groupBy(userIds, (userId) => JSON.stringify(lists.get(userId) ?? []));
  for (const [list, alike] of users) {
    const muted_topics = JSON.parse(list) as Muted[];
    const hasEmpty = muted_topics.some(([, topic]) => topic === '');
    work.emit({
      type: 'muted_topics',
      body: { muted_topics },
      audience: { users: idSet(alike) },
      ...(hasEmpty
        ? { forms: [{ capability: 'empty_topic_name', is: false, patch: { muted_topics: named(muted_topics) } }] }
        : {}),
    });
  }
}

type Muted = [channel: string, topic: string, updated: number];
const mutedOf = ({ name, topic, updated }: z.infer<typeof mutedRow>): Muted => [name, topic, updated];

/** The same list with the display name of the empty topic, for clients that do not support it. */
export const named = (muted: readonly Muted[]): Muted[] =>
  muted.map(([channel, topic, updated]) => [channel, topic === '' ? emptyTopicDisplayName : topic, updated]);

const mutedRow = z.object({ user_id: z.number(), name: z.string(), topic: z.string(), updated: z.number() });

/**
 * Every change of a mute emits the whole list to clients that support only mutes, so it has the newest mutes up to this
 * number, and up to this size of their names of channels and topics. Archived channels, and those that the user may no
 * longer read, are left out.
 */
const listed = { mutes: 500, bytes: 32 * 1024 } as const;

/**
 * SQL condition on a preference `t` and its channel `c`: whether the list of muted topics contains it, apart from the
 * limits. Lists of bots are empty: otherwise each change of a channel could emit a long list for each of the 500 bots of
 * one user.
 */
export const isListed = sql.fragment`(t.policy = ${visibility.muted} AND NOT c.is_archived
  AND NOT EXISTS (SELECT FROM messaging.standing b
    WHERE b.realm_id = t.realm_id AND b.user_id = t.user_id AND b.bot_owner_id IS NOT NULL)
  AND (c.is_web_public
    OR EXISTS (SELECT FROM messaging.subscription_period p
      WHERE p.realm_id = t.realm_id AND p.user_id = t.user_id AND p.channel_id = t.channel_id AND p.to_id IS NULL)
    OR (NOT c.is_private AND EXISTS (SELECT FROM messaging.standing s
      WHERE s.realm_id = t.realm_id AND s.user_id = t.user_id AND s.role < ${roles.guest}))))`;

export async function mutedTopics(
  executor: Executor,
  realmId: number,
  userIds: readonly number[],
): Promise<Map<number, Muted[]>> {
  const rows = await executor.any(sql.type(mutedRow)`
    SELECT u.user_id, newest.name, newest.topic, newest.updated FROM unnest(${sql.array([...userIds], 'int4')}) AS u (user_id), LATERAL (
    SELECT *, sum(octet_length(name) + octet_length(topic)) OVER (ORDER BY updated_at DESC, channel_id DESC, topic_key DESC) AS bytes FROM (
    SELECT c.name, t.topic, floor(extract(epoch FROM t.updated_at))::float8 AS updated, t.updated_at, t.channel_id, t.topic_key
    FROM messaging.user_topic t
    JOIN messaging.channel c ON c.realm_id = t.realm_id AND c.channel_id = t.channel_id
    WHERE t.realm_id = ${realmId} AND t.user_id = u.user_id AND ${isListed}
    ORDER BY t.updated_at DESC, t.channel_id DESC, t.topic_key DESC LIMIT ${listed.mutes}) ranked) newest
    WHERE newest.bytes <= ${listed.bytes}
    ORDER BY u.user_id, newest.updated_at, newest.channel_id, newest.topic_key`);
  const lists = Map.groupBy(rows, (row) => row.user_id);
  return new Map(userIds.map((userId) => [userId, (lists.get(userId) ?? []).map(mutedOf)]));
}

const heldRow = z.object({ user_id: z.number(), topic: z.string(), policy: z.number() });
export interface Place {
  channelId: number;
  topic: string;
}

interface Source extends Place {
  /** The subset of users who may read it. */
  readersAmong: (userIds: readonly number[]) => Promise<ReadonlySet<number>>;
}

interface Target extends Source {
  exists: boolean;
}

/**
 * Preferences are moved with a whole topic. If the target topic exists, the more visible preference wins.
 * Thousands of users can follow a topic, so the number of statements does not depend on them, and users with the same
 * preference share an event. Preferences of users who may no longer read the source stay there: those users must not learn
 * of the move, neither from an event nor from a later register.
 */
export async function moveTopicPreferences(work: Work, from: Source, to: Target): Promise<void> {
  if (from.channelId === to.channelId && (await isSameTopic(work, from.topic, to.topic))) return;
  const [all, there] = [await held(work, from), await held(work, to)];
  const readersHere = await from.readersAmong([...all.keys()]);
  const here = new Map([...all].filter(([userId]) => readersHere.has(userId)));
  const users = [...new Set([...here.keys(), ...there.keys()])].sort((a, b) => a - b);
  const readersThere = await to.readersAmong(users);
  const [ended, stored]: [TopicPreference[], TopicPreference[]] = [[], []];
  const muting: number[] = [];
  const updatedSeconds = nowSeconds();
  for (const userId of users) {
    const [own, other] = [here.get(userId), there.get(userId)];
    const [policy, before] = [own?.policy ?? visibility.inherit, other?.policy ?? visibility.inherit];
    if (own)
      ended.push({ channelId: from.channelId, userId, topic: own.topic, policy: visibility.inherit, updatedSeconds });
    const after = to.exists ? merged(policy, before) : Math.max(policy, before);
    // A preference moves or changes only if its user may read the target.
    const isChanged = after !== before && readersThere.has(userId);
    const topic = other?.topic ?? to.topic;
    if (isChanged) stored.push({ userId, channelId: to.channelId, topic, policy: after, updatedSeconds });
    if ([...(own ? [policy] : []), ...(isChanged ? [before, after] : [])].includes(visibility.muted))
      muting.push(userId);
  }
  for (const event of [...userTopicEvents(ended), ...userTopicEvents(stored)]) work.emit(event);
  const isKept = ({ policy }: TopicPreference): boolean => policy !== visibility.inherit;
  await removePreferences(work, from, [...here.keys()]);
  const removed = stored.filter((one) => !isKept(one)).map(({ userId }) => userId);
  await removePreferences(work, to, removed);
  const kept = stored.filter(isKept);
  const isHeld = ({ userId }: TopicPreference): boolean => there.has(userId);
  await storePreferences(work, kept.filter(isHeld), 'replace');
  await storePreferences(
    work,
    kept.filter((one) => !isHeld(one)),
    'insert',
  );
  announceMutes(work, muting);
}

/** Whether the names differ in case only, as the database compares them. */
const isSameTopic = async (work: Work, one: string, other: string): Promise<boolean> =>
  (await work.one(sql.type(z.object({ same: z.boolean() }))`SELECT lower(${one}) = lower(${other}) AS same`)).same;

async function removePreferences(work: Work, { channelId, topic }: Place, userIds: readonly number[]): Promise<void> {
  if (userIds.length === 0) return;
  await work.run(sql.unsafe`
    DELETE FROM messaging.user_topic
    WHERE realm_id = ${work.realmId} AND channel_id = ${channelId} AND topic_key = lower(${topic}) AND user_id = ANY(${sql.array([...userIds], 'int4')})`);
}

/**
 * `replace`: for users whose preference is locked. Others may have set a first one since the decision; then the request is
 * decided again.
 */
async function storePreferences(
  work: Work,
  preferences: readonly TopicPreference[],
  how: 'replace' | 'insert',
): Promise<void> {
  if (preferences.length === 0) return;
  const rows = preferences.map((one) => [one.userId, one.channelId, one.topic, one.policy, one.updatedSeconds]);
  const written = await work.run(sql.unsafe`
    INSERT INTO messaging.user_topic (realm_id, user_id, channel_id, topic, topic_key, policy, updated_at)
    SELECT ${work.realmId}, p.user_id, p.channel_id, p.topic, lower(p.topic), p.policy, to_timestamp(p.updated)
    FROM ${sql.unnest(rows, ['int4', 'int4', 'text', 'int4', 'float8'])} AS p (user_id, channel_id, topic, policy, updated)
    ON CONFLICT ${how === 'replace' ? replaces : sql.fragment`DO NOTHING`}`);
  if (written < rows.length) throw new VersionsChanged('preferences for a topic that is moved', 'row');
}

async function held(work: Work, { channelId, topic }: Place): Promise<Map<number, z.infer<typeof heldRow>>> {
  const rows = await work.any(sql.type(heldRow)`
    SELECT user_id, topic, policy FROM messaging.user_topic
    WHERE realm_id = ${work.realmId} AND channel_id = ${channelId} AND topic_key = lower(${topic}) ORDER BY user_id FOR UPDATE`);
  return new Map(rows.map((row) => [row.user_id, row]));
}

/** Followed over unmuted over inherit; muted only if both were muted. */
function merged(one: number, other: number): number {
  const { inherit, muted } = visibility;
  if (one === other) return one;
  const strongest = Math.max(one, other);
  return strongest === muted ? inherit : strongest;
}
