import { createHash } from 'node:crypto';
import {
  type Actor,
  badRequest,
  ChatError,
  channelPermissions,
  hasId,
  type messageChangeOperations,
  type ParamsOf,
  type RealmPermission,
  type RealmPolicy,
  realmPermissions,
  roles,
} from '@natter/contracts';
import type { MarkdownSource } from '@natter/markdown';
import { isPermitted, mayAdminister } from '@natter/permissions';
import { mayRead } from '../model/channel-access.ts';
import type { PostingRules } from '../model/channel-cache.ts';
import { checkedContent } from '../model/checked-content.ts';
import { requireChangeable } from '../model/message-access.ts';
import { requireTopicAllowed } from '../model/sending/posting-rights.ts';
import { isResolvedEmptyTopic, isResolveToggle } from '../model/topic-resolution.ts';
import { namedTopic } from '../model/truncated.ts';

export type Params = ParamsOf<typeof messageChangeOperations.updateMessage>;

/** The data on which a change of a message is decided. */
export interface Situation {
  actor: Actor;
  message: { sender_id: number; topic: string; content: string; sent: number; has_widget: boolean };
  /** The current channel; undefined for a direct message. */
  channel: PostingRules | undefined;
  /** The target channel of a move; undefined if the channel does not change. */
  target: PostingRules | undefined;
  policy: RealmPolicy;
  /** Seconds since 1970. */
  now: number;
}

/** The changes; undefined values stay unchanged. */
export interface Change {
  content: MarkdownSource | undefined;
  topic: string | undefined;
  target: PostingRules | undefined;
  mode: Params['propagate_mode'];
  isResolveToggle: boolean;
  /** Messages of the topic that were sent before this time (seconds) may not be moved with it. */
  movableSince: number | undefined;
}

/** Whether a change resolves or reopens a topic, and does nothing else. */
export const isOnlyResolution = ({ isResolveToggle, target, content }: Change): boolean =>
  isResolveToggle && !target && content === undefined;

/** Clients measure the time limit from the moment the editor was opened. */
const graceSeconds = 20;

/** Decides a change of content, topic or channel, or refuses it. Pure. */
export function decideChange(params: Params, situation: Situation): Change {
  const { message, channel } = situation;
  requireChangeable(channel);
  const isTopicGiven = params.topic !== undefined;
  const target = situation.target?.channel_id === channel?.channel_id ? undefined : situation.target;
  if (!channel && isTopicGiven) throw badRequest('Direct messages cannot have topics.');
  if (!channel && params.stream_id !== undefined) throw badRequest('Direct messages cannot be moved to channels.');
  if (params.propagate_mode !== 'change_one' && !isTopicGiven && params.stream_id === undefined)
    throw badRequest('Invalid propagate_mode without topic edit');
  if (params.content !== undefined && target) throw badRequest('Cannot change message content while changing channel');
  if (params.content !== undefined && params.propagate_mode !== 'change_one')
    throw badRequest('Cannot change message content while moving other messages');
  requireExpected(params.prev_content_sha256, message.content);
  const content = params.content === undefined ? undefined : contentOf(params.content);
  const topic = isTopicGiven ? namedTopic(params.topic ?? '') : message.topic;
  const change: Change = {
    content: content === message.content ? undefined : content,
    topic: topic === message.topic ? undefined : topic,
    target,
    mode: params.propagate_mode,
    isResolveToggle: isResolveToggle(message.topic, topic),
    movableSince: undefined,
  };
  if (change.content === undefined && change.topic === undefined && !target) throw badRequest('Nothing to change');
  if (change.topic !== undefined && isResolvedEmptyTopic(topic))
    throw badRequest('General chat cannot be marked as resolved');
  if (change.content !== undefined) requireContentRight(situation);
  if (!channel) return change;
  if (change.topic !== undefined || target) requireTopicAllowed(topic, target ?? channel, situation.policy);
  const limits = {
    topic:
      change.topic === undefined ? undefined : topicLimit(situation, target ? [channel, target] : [channel], change),
    channel: target && channelLimit(situation, channel, target),
  };
  const movableSince = (limit = Number.POSITIVE_INFINITY) => situation.now - limit - graceSeconds;
  const since = Math.max(movableSince(limits.topic), movableSince(limits.channel));
  if (change.mode === 'change_all') return { ...change, movableSince: Number.isFinite(since) ? since : undefined };
  for (const [changed, limit] of Object.entries(limits))
    if (message.sent < movableSince(limit))
      throw badRequest(`The time limit for editing this message's ${changed} has passed`);
  return change;
}

function requireExpected(sha256: string | undefined, content: string): void {
  if (sha256 === undefined) return;
  if (createHash('sha256').update(content).digest('hex') !== sha256.toLowerCase())
    throw new ChatError('EXPECTATION_MISMATCH', "'prev_content_sha256' value does not match the expected value.");
}

const contentOf = (given: string): MarkdownSource => checkedContent(given.trim() === '' ? '(deleted)' : given);

function requireContentRight({ actor, message, policy, now }: Situation): void {
  const { allow_message_editing, message_content_edit_limit_seconds: limit } = policy.settings;
  if (message.sender_id !== actor.userId) throw noRight();
  if (!allow_message_editing) throw badRequest('Your organization has turned off message editing');
  if (message.has_widget) throw badRequest('Widgets cannot be edited.');
  if (limit !== null && now - message.sent > limit + graceSeconds)
    throw badRequest('The time limit for editing this message has passed');
}

/**
 * How long ago a message may have been sent for its topic to be changed; undefined: no limit. A right in one of the
 * channels, the current one and that of the move, is enough.
 */
function topicLimit(situation: Situation, channels: readonly PostingRules[], change: Change): number | undefined {
  const { policy } = situation;
  if (change.isResolveToggle) {
    if (!mayInRealmOrChannels(situation, 'can_resolve_topics_group', channels, 'can_resolve_topics_group'))
      throw badRequest("You don't have permission to resolve topics in this channel.");
    return undefined;
  }
  const may = mayInRealmOrChannels(
    situation,
    'can_move_messages_between_topics_group',
    channels,
    'can_move_messages_within_channel_group',
  );
  if (!may && !channels.some((channel) => administers(situation.actor, channel))) throw noRight();
  return exempt(situation.actor) ? undefined : (policy.settings.move_messages_within_stream_limit_seconds ?? undefined);
}

function channelLimit(situation: Situation, channel: PostingRules, target: PostingRules): number | undefined {
  const { actor, policy } = situation;
  const may = mayInRealmOrChannels(
    situation,
    'can_move_messages_between_channels_group',
    [channel],
    'can_move_messages_out_of_channel_group',
  );
  if (!may && !administers(actor, channel)) throw badRequest("You don't have permission to move this message");
  const maySend = isPermitted(
    channelPermissions.can_send_message_group,
    target.permissions.can_send_message_group,
    actor,
  );
  if (target.is_archived || !mayRead(target, actor) || !maySend)
    throw badRequest("You don't have permission to move messages to this channel");
  return exempt(actor) ? undefined : (policy.settings.move_messages_between_streams_limit_seconds ?? undefined);
}

function mayInRealmOrChannels(
  { actor, policy }: Situation,
  realmPermission: RealmPermission,
  channels: readonly PostingRules[],
  channelPermission: keyof typeof channelPermissions,
): boolean {
  const kind = channelPermissions[channelPermission];
  return (
    isPermitted(realmPermissions[realmPermission], policy.permissions[realmPermission], actor) ||
    channels.some(({ permissions }) => isPermitted(kind, permissions[channelPermission], actor))
  );
}

const administers = (actor: Actor, channel: PostingRules): boolean =>
  mayAdminister(channel, actor, hasId(channel.subscribers, actor.userId));

/** Moderators and higher roles are exempt from the time limits of moves. */
const exempt = (actor: Actor): boolean => actor.role <= roles.moderator;

const noRight = () => badRequest("You don't have permission to edit this message");
