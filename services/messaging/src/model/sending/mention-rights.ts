import {
  badRequest,
  ChatError,
  groupPermissions,
  hasId,
  type IdSet,
  realmPermissions,
  sizeOf,
} from '@natter/contracts';
import { type Database, type Executor, sql } from '@natter/database';
import type { Rendered } from '@natter/markdown';
import { isPermitted } from '@natter/permissions';
import { z } from 'zod';
import type { PostingRules } from '../channel-cache.ts';
import { expectedGuests } from '../roles.ts';
import type { Destination } from './destination.ts';
import { membersOf } from './group-closure.ts';
import type { Referred } from './render-context.ts';
import type { Sender } from './sender-facts.ts';

/** Up to this many receivers anyone may use wildcard mentions. */
const manyUsers = 15;

/** The destination of a message, as far as mentions depend on it. */
export type MentionedAt = (
  | { kind: 'channel'; channel: Pick<PostingRules, 'channel_id'>; topic: string; audience: IdSet }
  | { kind: 'direct'; audience: IdSet }
) & {
  /** The receivers of an edited message, because the audience of its channel may have changed; `audience` if absent. */
  receivers?: ReadonlySet<number>;
};

export interface Mentioned {
  userIds: number[];
  topicUserIds: number[];
  mentionsChannel: boolean;
}

/** The result of most messages. */
export const nobodyMentioned: Mentioned = { userIds: [], topicUserIds: [], mentionsChannel: false };

export const mentionsAnybody = ({ userIds, groupIds, channelWildcard, topicWildcard }: Rendered['mentions']): boolean =>
  userIds.length + groupIds.length > 0 || channelWildcard || topicWildcard;

/** The mentioned users among the receivers; refuses mentions that the sender may not make. */
export async function mentionedBy(
  executor: Executor,
  { actor, author, policy }: Pick<Sender, 'actor' | 'author' | 'policy'>,
  { mentions, groups }: Pick<Rendered, 'mentions'> & Pick<Referred, 'groups'>,
  destination: MentionedAt,
): Promise<Mentioned> {
  // Only mentioned users are looked up among many receivers.
  const { receivers = { has: (id: number) => hasId(destination.audience, id) } } = destination;
  const named = groups.filter((group) => mentions.groupIds.includes(group.id));
  for (const group of named)
    if (!isPermitted(groupPermissions.can_mention_group, group.can_mention, actor))
      throw badRequest(`You are not allowed to mention user group '${group.name}'.`);
  const inGroups = await membersOf(
    executor,
    actor.realmId,
    named.map((group) => group.id),
  );
  const userIds = [...new Set([...mentions.userIds, ...inGroups])]
    .filter((id) => receivers.has(id))
    .sort((a, b) => a - b);
  // Direct messages have few receivers, so wildcard mentions need no permission.
  if (destination.kind === 'direct') return { userIds, topicUserIds: [], mentionsChannel: mentions.channelWildcard };
  const mayMentionMany = isPermitted(
    realmPermissions.can_mention_many_users_group,
    policy.permissions.can_mention_many_users_group,
    actor,
  );
  if (mentions.channelWildcard && sizeOf(destination.audience) > manyUsers && !mayMentionMany)
    throw new ChatError(
      'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
      'You do not have permission to use channel wildcard mentions in this channel.',
    );
  const participants = mentions.topicWildcard
    ? [...new Set([...(await participantsOf(executor, actor.realmId, destination)), author.userId])]
    : [];
  if (participants.length > manyUsers && !mayMentionMany)
    throw new ChatError(
      'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
      'You do not have permission to use topic wildcard mentions in this topic.',
    );
  return {
    userIds,
    topicUserIds: participants.filter((id) => receivers.has(id)),
    mentionsChannel: mentions.channelWildcard,
  };
}

interface CalledBots {
  called: number[];
  /** The expected versions of their roles. */
  expected: Record<string, number>;
}

/** The result of most messages. */
export const nobodyCalled: CalledBots = { called: [], expected: {} };

/**
 * Bots receive messages that mention them in an open channel even without a subscription, so that users can address
 * them.
 */
export async function calledBots(
  database: Database,
  realmId: number,
  destination: Destination,
  { userIds, botIds }: { userIds: readonly number[]; botIds: ReadonlySet<number> },
): Promise<CalledBots> {
  if (destination.kind === 'direct' || destination.channel.is_private) return nobodyCalled;
  const bots = userIds.filter((id) => botIds.has(id) && !hasId(destination.audience, id)).sort((a, b) => a - b);
  if (bots.length === 0 || destination.channel.is_web_public) return { called: bots, expected: {} };
  const { guests, expected } = await expectedGuests(database, realmId, bots);
  return { called: bots.filter((id) => !guests.includes(id)), expected };
}

/** Messages and reactions of a topic that decide who participates: a topic may have a million of them. */
const newestMessages = 10_000;
const newestReactions = 50_000;

/** Users who wrote the newest messages of the topic, or reacted to them. */
async function participantsOf(
  executor: Executor,
  realmId: number,
  { channel, topic }: Extract<MentionedAt, { kind: 'channel' }>,
): Promise<number[]> {
  const rows = await executor.any(sql.type(z.object({ id: z.number() }))`
    WITH topic AS MATERIALIZED (SELECT m.id, m.sender_id FROM messaging.message m
      WHERE m.realm_id = ${realmId} AND m.channel_id = ${channel.channel_id} AND lower(m.topic) = lower(${topic})
      ORDER BY m.id DESC LIMIT ${newestMessages})
    SELECT sender_id AS id FROM topic UNION
    SELECT newest.user_id FROM (
      SELECT r.user_id FROM topic t CROSS JOIN LATERAL (
        SELECT r.user_id FROM messaging.reaction r WHERE r.realm_id = ${realmId} AND r.message_id = t.id) r
      LIMIT ${newestReactions}) newest`);
  return rows.map((row) => row.id);
}
