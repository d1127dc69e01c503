import {
  type Actor,
  badRequest,
  emptyTopicDisplayName,
  idSet,
  limits,
  type ParamsOf,
  topicOperations,
  totals,
} from '@natter/contracts';
import { type Executor, type Query, requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import type { ChannelReach } from '../channel-reach.ts';
import type { SnapshotFor } from '../snapshot.ts';
import { userTopicEvents } from './user-topic-events.ts';

export const visibility = { inherit: 0, muted: 1, unmuted: 2, followed: 3 } as const;

const topicRow = z.object({ channel_id: z.number(), topic: z.string(), policy: z.number(), updated: z.number() });

/** Per-user preferences of topics (specification 4.7), and the muting that they replaced (4.9). */
export function userTopicHandlers({ database, unitOfWork }: Owner, reach: ChannelReach): Handlers {
  return [
    handle(topicOperations.updateUserTopic, async (context, params) => {
      const { actor, meta } = context;
      const topic = checkedTopic(params.topic);
      // A preference can be dropped for a channel that is out of reach by now.
      if (params.visibility_policy !== visibility.inherit) await reach.readable(actor, meta, params.stream_id);
      return unitOfWork({ realmId: actor.realmId, schema: 'messaging', claim: context.claim }, async (work) => {
        work.restOn(actor.basis);
        await setTopic(work, actor.userId, params.stream_id, topic, params.visibility_policy);
        return {};
      });
    }),

    handle(topicOperations.updateMutedTopic, async (context, params) => {
      const { actor } = context;
      const topic = checkedTopic(params.topic);
      const channelId = await subscribedChannel(actor, params);
      const policy = params.op === 'add' ? visibility.muted : visibility.inherit;
      return unitOfWork({ realmId: actor.realmId, schema: 'messaging', claim: context.claim }, async (work) => {
        work.restOn(actor.basis);
        await setTopic(work, actor.userId, channelId, topic, policy);
        return {};
      });
    }),
  ];

  /** A channel to which the user is not subscribed is refused like one that there is not. */
  async function subscribedChannel(
    { realmId, userId }: Actor,
    { stream, stream_id }: ParamsOf<typeof topicOperations.updateMutedTopic>,
  ): Promise<number> {
    if (stream_id !== undefined && stream !== undefined)
      throw badRequest("Please choose one: 'stream' or 'stream_id'.");
    if (stream_id === undefined && stream === undefined) throw badRequest("Please supply 'stream'.");
    const which =
      stream_id === undefined
        ? sql.fragment`lower(c.name) = lower(${stream?.trim() ?? ''}) AND NOT c.is_archived`
        : sql.fragment`c.channel_id = ${stream_id}`;
    const found = await database.maybeOne(sql.type(z.object({ channel_id: z.number() }))`
      SELECT c.channel_id FROM messaging.channel c JOIN messaging.subscription_period p USING (realm_id, channel_id)
      WHERE c.realm_id = ${realmId} AND ${which} AND p.user_id = ${userId} AND p.to_id IS NULL`);
    if (!found) throw badRequest(stream_id === undefined ? `Invalid channel name '${stream}'` : 'Invalid channel ID');
    return found.channel_id;
  }
}

function checkedTopic(topic: string): string {
  const stripped = topic.trim();
  if ([...stripped].length > limits.topicLength)
    throw badRequest(`topic is too long (limit: ${limits.topicLength} characters)`);
  return stripped === '(no topic)' || stripped === emptyTopicDisplayName ? '' : stripped;
}

/** Sets a preference and tells its user; nothing when it is so already. */
async function setTopic(work: Work, userId: number, channelId: number, topic: string, policy: number): Promise<void> {
  const known = await work.maybeOne(sql.type(topicRow)`
    SELECT channel_id, topic, policy, 0 AS updated FROM messaging.user_topic
    WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND channel_id = ${channelId} AND topic_key = lower(${topic}) FOR UPDATE`);
  if ((known?.policy ?? visibility.inherit) === policy) return;
  await writeTopic(work, userId, { channelId, topic: known?.topic ?? topic }, policy);
  await requireRoom(
    work,
    totals.topicPreferences,
    sql.fragment`messaging.user_topic WHERE realm_id = ${work.realmId} AND user_id = ${userId}`,
  );
  await emitMutedTopics(work, userId);
}

/** With its events; the list for clients that know only mutes is left to the caller. */
async function writeTopic(work: Work, userId: number, { channelId, topic }: Place, policy: number): Promise<void> {
  const updated = nowSeconds();
  await work.run(
    policy === visibility.inherit
      ? sql.unsafe`DELETE FROM messaging.user_topic WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND channel_id = ${channelId} AND topic_key = lower(${topic})`
      : upsertTopic(work.realmId, userId, channelId, topic, policy, updated),
  );
  for (const event of userTopicEvents(userId, channelId, topic, policy, updated)) work.emit(event);
}

/** The second in which a preference changes, as its event and every later state tell it. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

export const upsertTopic = (
  realmId: number,
  userId: number,
  channelId: number,
  topic: string,
  policy: number,
  updatedSeconds: number,
): Query =>
  sql.unsafe`INSERT INTO messaging.user_topic (realm_id, user_id, channel_id, topic, topic_key, policy, updated_at)
    VALUES (${realmId}, ${userId}, ${channelId}, ${topic}, lower(${topic}), ${policy}, to_timestamp(${updatedSeconds}))
    ON CONFLICT (realm_id, user_id, channel_id, topic_key) DO UPDATE SET policy = excluded.policy, updated_at = excluded.updated_at`;

/** One list at a time for a user: the last one told is the last one there is. */
async function emitMutedTopics(work: Work, userId: number): Promise<void> {
  await work.run(sql.unsafe`SELECT pg_advisory_xact_lock(7306, ${userId})`);
  const muted_topics = await mutedTopics(work, work.realmId, userId);
  const hasEmpty = muted_topics.some(([, topic]) => topic === '');
  work.emit({
    type: 'muted_topics',
    body: { muted_topics },
    audience: { users: idSet([userId]) },
    ...(hasEmpty
      ? { forms: [{ capability: 'empty_topic_name', is: false, patch: { muted_topics: named(muted_topics) } }] }
      : {}),
  });
}

type Muted = [channel: string, topic: string, updated: number];

/** For clients that know no empty topic. */
const named = (muted: readonly Muted[]): Muted[] =>
  muted.map(([channel, topic, updated]) => [channel, topic === '' ? emptyTopicDisplayName : topic, updated]);

/** After sends that ended mutes by following or unmuting the topic: clients that know only mutes are told of that. */
export function mutedTopicsConsumer(owner: Owner): void {
  owner.consume({
    name: 'ended-mutes',
    types: ['mutes_ended'],
    handle: async (work, { event }) => {
      for (const userId of (event.note?.user_ids ?? []) as number[]) await emitMutedTopics(work, userId);
    },
  });
}

const mutedRow = z.object({ name: z.string(), topic: z.string(), updated: z.number() });

/** Every change of a mute tells the whole list, to clients that know only it: a longer one holds the newest. */
const listedMutes = 500;

async function mutedTopics(executor: Executor, realmId: number, userId: number): Promise<Muted[]> {
  const rows = await executor.any(sql.type(mutedRow)`
    SELECT c.name, t.topic, floor(extract(epoch FROM t.updated_at))::float8 AS updated FROM messaging.user_topic t
    JOIN messaging.channel c ON c.realm_id = t.realm_id AND c.channel_id = t.channel_id
    WHERE t.realm_id = ${realmId} AND t.user_id = ${userId} AND t.policy = ${visibility.muted}
    ORDER BY t.updated_at DESC, t.channel_id DESC, t.topic_key DESC LIMIT ${listedMutes}`);
  return rows.reverse().map(({ name, topic, updated }) => [name, topic, updated]);
}

export async function mutedTopicsPart(
  executor: Executor,
  { realmId, userId, capabilities }: SnapshotFor,
): Promise<Record<string, unknown>> {
  const muted = await mutedTopics(executor, realmId, userId);
  return { muted_topics: capabilities.empty_topic_name ? muted : named(muted) };
}

export async function userTopicsPart(
  executor: Executor,
  { realmId, userId, capabilities }: SnapshotFor,
): Promise<Record<string, unknown>> {
  const rows = await executor.any(sql.type(topicRow)`
    SELECT channel_id, topic, policy, floor(extract(epoch FROM updated_at))::float8 AS updated FROM messaging.user_topic
    WHERE realm_id = ${realmId} AND user_id = ${userId} ORDER BY channel_id, topic_key`);
  return {
    user_topics: rows.map(({ channel_id, topic, policy, updated }) => ({
      stream_id: channel_id,
      topic_name: topic === '' && !capabilities.empty_topic_name ? emptyTopicDisplayName : topic,
      last_updated: updated,
      visibility_policy: policy,
    })),
  };
}

const heldRow = z.object({ user_id: z.number(), topic: z.string(), policy: z.number() });
interface Place {
  channelId: number;
  topic: string;
}

/** Preferences go with a topic that is moved whole. Where there was another, `isMerge`, the one that shows more wins. */
export async function moveTopicPreferences(
  work: Work,
  from: Place,
  to: Place,
  isMerge: boolean,
  readersAmong: (userIds: readonly number[]) => Promise<ReadonlySet<number>>,
): Promise<void> {
  if (from.channelId === to.channelId && from.topic.toLowerCase() === to.topic.toLowerCase()) return;
  const [here, there] = [await held(work, from), await held(work, to)];
  const readers = await readersAmong([...here.keys()]);
  for (const userId of [...new Set([...here.keys(), ...there.keys()])].sort((a, b) => a - b)) {
    const [own, other] = [here.get(userId), there.get(userId)];
    const [policy, before] = [own?.policy ?? visibility.inherit, other?.policy ?? visibility.inherit];
    if (own) await writeTopic(work, userId, { ...from, topic: own.topic }, visibility.inherit);
    const after = isMerge ? merged(policy, before) : Math.max(policy, before);
    // Who had none here may read there, or had none to lose.
    const isChanged = after !== before && (!own || readers.has(userId));
    if (isChanged) await writeTopic(work, userId, { ...to, topic: other?.topic ?? to.topic }, after);
    if (own || isChanged) await emitMutedTopics(work, userId);
  }
}

async function held(work: Work, { channelId, topic }: Place): Promise<Map<number, z.infer<typeof heldRow>>> {
  const rows = await work.any(sql.type(heldRow)`
    SELECT user_id, topic, policy FROM messaging.user_topic
    WHERE realm_id = ${work.realmId} AND channel_id = ${channelId} AND topic_key = lower(${topic}) ORDER BY user_id FOR UPDATE`);
  return new Map(rows.map((row) => [row.user_id, row]));
}

/** Followed, else unmuted, else as the channel is; muted only what was muted in both places. */
function merged(one: number, other: number): number {
  const { inherit, muted } = visibility;
  if (one === other) return one;
  const strongest = Math.max(one, other);
  return strongest === muted ? inherit : strongest;
}
