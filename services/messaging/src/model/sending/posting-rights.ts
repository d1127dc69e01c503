import {
  type Actor,
  badRequest,
  channelPermissions,
  hasId,
  type RealmPermission,
  type RealmPolicy,
  realmPermissions,
  roles,
} from '@natter/contracts';
import { type Database, type Executor, sql } from '@natter/database';
import { type Holder, hasContentAccess, isPermitted } from '@natter/permissions';
import { z } from 'zod';
import type { PostingRules } from '../channel-cache.ts';
import { groupVersions, waitForPeopleAndGroups } from '../group-versions.ts';
import type { Person } from '../people.ts';
import { groupsOf, holdersAmong } from './group-closure.ts';
import type { Sender } from './sender-facts.ts';

const botRow = z.object({ bot_owner_id: z.number().nullable() });
const ownerRow = z.object({ role: z.number() });

export interface PostingRight {
  right: 'granted' | 'refused' | 'unknown';
  /** Expected versions beside those of the actor and the channel. */
  expected: Record<string, number>;
}

/** The two parts of the right to post. */
interface Part {
  mayRead: boolean;
  maySend: boolean;
}

/**
 * Whether the actor may post to a channel: who has access to its content and is in `can_send_message_group`. For a bot,
 * the subscription of its owner counts as access, and the owner's place in that group as its own. `right` distinguishes
 * channels that the actor may not see.
 */
export async function postingRight(database: Database, channel: PostingRules, actor: Actor): Promise<PostingRight> {
  // System bots may also post to archived channels, because they post the notice that a channel was archived.
  if (actor.isSystemBot) return { right: 'granted', expected: {} };
  const own: Part = {
    mayRead: hasContentAccess(channel, actor, hasId(channel.subscribers, actor.userId)),
    maySend: maySendTo(channel, actor),
  };
  if ((own.mayRead && own.maySend) || !actor.isBot) return { right: rightOf(channel, own), expected: {} };
  const ownerId = actor.botOwnerId ?? (await projectedOwner(database, actor));
  if (ownerId === null) return { right: rightOf(channel, own), expected: {} };
  const expected = await groupVersions(database, actor.realmId, [ownerId]);
  const together: Part = {
    mayRead: own.mayRead || hasId(channel.subscribers, ownerId),
    maySend: own.maySend || maySendTo(channel, await holderOf(database, actor.realmId, ownerId)),
  };
  return { right: rightOf(channel, together), expected };
}

function rightOf(channel: PostingRules, { mayRead, maySend }: Part): PostingRight['right'] {
  if (!mayRead) return 'unknown';
  return maySend && !channel.is_archived ? 'granted' : 'refused';
}

const maySendTo = ({ permissions }: PostingRules, holder: Holder): boolean =>
  isPermitted(channelPermissions.can_send_message_group, permissions.can_send_message_group, holder);

/** For bots without an owner, and for actors that a service of the previous release made: they omit the owner. */
async function projectedOwner(database: Database, { realmId, userId }: Actor): Promise<number | null> {
  await waitForPeopleAndGroups(database, realmId);
  const row = await database.maybeOne(sql.type(botRow)`
    SELECT bot_owner_id FROM messaging.standing WHERE realm_id = ${realmId} AND user_id = ${userId}`);
  return row?.bot_owner_id ?? null;
}

/** A user other than the actor, by this service's projections: expect `groupVersions` with the id of the user. */
export async function holderOf(executor: Executor, realmId: number, userId: number): Promise<Holder> {
  const row = await executor.maybeOne(sql.type(ownerRow)`
    SELECT role FROM messaging.standing WHERE realm_id = ${realmId} AND user_id = ${userId}`);
  return { userId, role: row?.role ?? roles.guest, groupIds: await groupsOf(executor, realmId, userId) };
}

export const topicsPolicyOf = ({ topics_policy: own }: PostingRules, { settings }: RealmPolicy) =>
  own === 'inherit' ? settings.topics_policy : own;

export function requireTopicAllowed(topic: string, channel: PostingRules, policy: RealmPolicy): void {
  const topicsPolicy = topicsPolicyOf(channel, policy);
  if (topic === '' && topicsPolicy === 'disable_empty_topic')
    throw badRequest('Sending messages to the general chat is not allowed in this channel.');
  if (topic !== '' && topicsPolicy === 'empty_topic_only')
    throw badRequest('Only the general chat topic is allowed in this channel.');
}

/** Whether the right to send a direct message depends on the groups of its participants. */
export const limitsDirect = ({ permissions, system_groups }: RealmPolicy): boolean =>
  permissions.direct_message_permission_group !== system_groups['role:everyone'];

/** Refuses a direct message that the realm's two permissions do not allow. They do not limit what bots send. */
export async function requireDirectAllowed(
  executor: Executor,
  { actor, author, policy, facts }: Pick<Sender, 'actor' | 'policy' | 'facts'> & { author: Pick<Actor, 'isBot'> },
  people: readonly Person[],
): Promise<void> {
  const others = people.filter((person) => person.user_id !== actor.userId);
  if (author.isBot || others.every((person) => person.is_bot)) return;
  const everyone = policy.system_groups['role:everyone'];
  const holders = async (permission: RealmPermission, userIds: number[]): Promise<number[]> => {
    const value = policy.permissions[permission];
    return value === everyone ? userIds : holdersAmong(executor, actor.realmId, value, userIds);
  };
  const participants = people.map((person) => person.user_id);
  if ((await holders('direct_message_permission_group', participants)).length === 0)
    throw badRequest(
      policy.permissions.direct_message_permission_group === policy.system_groups['role:nobody']
        ? 'Direct messages are disabled in this organization.'
        : 'This conversation does not include any users who can authorize it.',
    );
  const { direct_message_initiator_group } = realmPermissions;
  if (
    facts.is_new_conversation &&
    !isPermitted(direct_message_initiator_group, policy.permissions.direct_message_initiator_group, actor)
  )
    throw badRequest('You do not have permission to initiate direct message conversations.');
}
