import { badRequest, limits, topicOfName, topicOperations, totals } from '@natter/contracts';
import { requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { type ChannelAccess, channelVersions } from '../model/channel-access.ts';
import { accountsOfPerson } from '../model/owner-of.ts';
import { emitMutedTopics, type Place, topicRow, usersAtOnce, visibility, writeTopic } from '../model/user-topics.ts';

/** Per-user preferences of topics (inherit, muted, unmuted, followed), and the older mutes. */
export function userTopicHandlers(access: ChannelAccess): Handlers {
  return [
    handleWrite(topicOperations.updateUserTopic, async (context, params) => {
      const { actor, meta } = context;
      const place = { channelId: params.stream_id, topic: checkedTopic(params.topic) };
      // A preference can be removed even if the channel is no longer accessible.
      const { channel, refusal } = await access.readable(actor, meta, place.channelId).then(
        (channel) => ({ channel, refusal: undefined }),
        (refusal: unknown) => ({ channel: undefined, refusal }),
      );
      if (refusal && params.visibility_policy !== visibility.inherit) throw refusal;
      return context.write(async (work) => {
        if (channel) work.expectVersions(channelVersions(channel));
        if (refusal && !(await work.maybeOne(sql.type(topicRow)`${preferenceOf(work, actor.userId, place)}`)))
          throw refusal;
        await setTopic(work, actor.userId, place, params.visibility_policy);
        return {};
      });
    }),
  ];
}

export function checkedTopic(topic: string): string {
  const stripped = topic.trim();
  if ([...stripped].length > limits.topicLength)
    throw badRequest(`topic is too long (limit: ${limits.topicLength} characters)`);
  return topicOfName(stripped);
}

const preferenceOf = ({ realmId }: Work, userId: number, { channelId, topic }: Place) => sql.fragment`
  SELECT channel_id, topic, policy, 0 AS updated FROM messaging.user_topic
  WHERE realm_id = ${realmId} AND user_id = ${userId} AND channel_id = ${channelId} AND topic_key = lower(${topic})`;

/** Sets a preference and notifies its user, if it changed. */
export async function setTopic(work: Work, userId: number, { channelId, topic }: Place, policy: number): Promise<void> {
  const known = await work.maybeOne(sql.type(topicRow)`
    ${preferenceOf(work, userId, { channelId, topic })} FOR UPDATE`);
  if ((known?.policy ?? visibility.inherit) === policy) return;
  await writeTopic(work, userId, { channelId, topic: known?.topic ?? topic }, policy);
  await requireRoom(
    work,
    totals.topicPreferences,
    sql.fragment`messaging.user_topic
      WHERE realm_id = ${work.realmId} AND user_id = ANY(${accountsOfPerson(work.realmId, userId)})`,
    sql.fragment`octet_length(topic)`,
  );
  await emitMutedTopics(work, [userId]);
}

/**
 * Notifies clients that support only mutes of lists that changed otherwise: by sends, moves, channels, subscriptions or roles.
 * Only the newest list of a user counts, so a transaction emits one for all changes that it handles.
 */
export function mutedTopicsConsumer(owner: Owner): void {
  /** The users whom the events of a transaction name. */
  const named = new WeakMap<Work, Set<number>>();
  owner.consume({
    name: 'ended-mutes',
    // Repeated changes within this time cause one list.
    gatherMs: 1_000,
    on: {
      mutes_ended: async (work, { note }) => {
        const users = named.get(work) ?? new Set();
        const more = note.user_ids.filter((id) => !users.has(id));
        if (users.size > 0 && users.size + more.length > usersPerTransaction) return 'unfinished';
        for (const id of more) users.add(id);
        named.set(work, users);
        return undefined;
      },
    },
    finish: async (work) => {
      const users = [...(named.get(work) ?? [])];
      for (let from = 0; from < users.length; from += usersAtOnce)
        await emitMutedTopics(work, users.slice(from, from + usersAtOnce));
    },
  });
}

/** They are locked until the transaction ends, and the list of each may be long. */
const usersPerTransaction = 500;
