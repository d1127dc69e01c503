import {
  type Actor,
  badRequest,
  type ChannelPermission,
  channelPermissions,
  type RealmPolicy,
  realmPermissions,
} from '@natter/contracts';
import { isPermitted } from '@natter/permissions';
import type { PostingRules } from '../model/channel-cache.ts';

interface Situation {
  actor: Actor;
  message: { sent: number };
  /** Whether the actor sent it, or owns the bot that did. */
  isOwn: boolean;
  channel: PostingRules | undefined;
  policy: RealmPolicy;
  /** Seconds since 1970. */
  now: number;
}

/** Whether the actor may delete messages of any sender, in a channel or among direct messages. */
export const mayDeleteAny = (actor: Actor, channel: PostingRules | undefined, policy: RealmPolicy): boolean =>
  isPermitted(realmPermissions.can_delete_any_message_group, policy.permissions.can_delete_any_message_group, actor) ||
  hasInChannel(actor, channel, 'can_delete_any_message_group');

/** Whether the actor may delete their own messages and those of their bots there, within the time limit. */
export const mayDeleteOwn = (actor: Actor, channel: PostingRules | undefined, policy: RealmPolicy): boolean =>
  isPermitted(realmPermissions.can_delete_own_message_group, policy.permissions.can_delete_own_message_group, actor) ||
  hasInChannel(actor, channel, 'can_delete_own_message_group');

/** Refuses an actor who may not delete the message. Pure. */
export function requireDeletionRight({ actor, message, isOwn, channel, policy, now }: Situation): void {
  if (mayDeleteAny(actor, channel, policy)) return;
  if (!isOwn || !mayDeleteOwn(actor, channel, policy))
    throw badRequest("You don't have permission to delete this message");
  const limit = policy.settings.message_content_delete_limit_seconds;
  if (limit !== null && now - message.sent > limit)
    throw badRequest('The time limit for deleting this message has passed');
}

const hasInChannel = (actor: Actor, channel: PostingRules | undefined, name: ChannelPermission): boolean =>
  channel !== undefined && isPermitted(channelPermissions[name], channel.permissions[name], actor);
