import type { EventMessage } from '@natter/client';

export interface Emoji {
  emoji_name: string;
  emoji_code: string;
  reaction_type: 'unicode_emoji' | 'realm_emoji' | 'zulip_extra_emoji';
}

export type Reaction = Emoji & { user_id: number };

type WithoutReactions<M> = M extends unknown ? Omit<M, 'reactions'> : never;

type SentMessage = WithoutReactions<EventMessage>;

/** A message of a page or an event, with the flags that it has for its reader. */
export type Message = SentMessage & {
  flags: readonly string[];
  reactions: readonly Reaction[];
  last_edit_timestamp?: number | undefined;
  last_moved_timestamp?: number | undefined;
};

/** A condition of a search, as the API expresses it. */
export interface Term {
  operator: string;
  operand: string | number | number[];
  negated?: boolean;
}

/** The conversation of a message: a topic, or direct messages with some people. */
export type Place =
  | { kind: 'topic'; channelId: number; topic: string }
  | { kind: 'direct'; userIds: readonly number[] };

/** A list of messages that a page shows. `all` includes muted conversations. */
export type Narrow =
  | { kind: 'feed' | 'all' | 'mentions' | 'starred' }
  | { kind: 'search'; terms: readonly Term[] }
  | { kind: 'channel'; channelId: number }
  | Place;

export function keyOf(narrow: Narrow): string {
  if (narrow.kind === 'search') return `search:${JSON.stringify(narrow.terms)}`;
  if (narrow.kind === 'channel') return `channel:${narrow.channelId}`;
  if (narrow.kind === 'direct') return `direct:${narrow.userIds.join(',')}`;
  if (narrow.kind === 'topic') return `topic:${narrow.channelId}:${narrow.topic.toLowerCase()}`;
  return narrow.kind;
}

export const topicPlace = (channelId: number, topic: string): Place => ({ kind: 'topic', channelId, topic });

const resolvedPrefix = '✔ ';
export const isResolved = (topic: string): boolean => topic.startsWith(resolvedPrefix);
/** The name of a topic after it was marked as resolved, or no longer is. */
export const toggledResolved = (topic: string): string =>
  isResolved(topic) ? topic.slice(resolvedPrefix.length) : `${resolvedPrefix}${topic}`;

/** The other participants; the reader alone for notes to themselves. */
export function directPlace(participants: readonly number[], ownId: number): Place {
  const others = [...new Set(participants)].filter((id) => id !== ownId).sort((a, b) => a - b);
  return { kind: 'direct', userIds: others.length > 0 ? others : [ownId] };
}

export const placeOf = (message: SentMessage, ownId: number): Place =>
  message.type === 'stream'
    ? topicPlace(message.stream_id, message.subject)
    : directPlace(
        message.display_recipient.map(({ id }) => id),
        ownId,
      );

const mentionFlags: readonly string[] = [
  ...['mentioned', 'wildcard_mentioned', 'stream_wildcard_mentioned', 'topic_wildcard_mentioned'],
];
export const isMention = (flags: readonly string[]): boolean => flags.some((flag) => mentionFlags.includes(flag));
/** Whether a flag follows from the text of a message. The others are set by the reader. */
export const isOfText = (flag: string): boolean => flag === 'has_alert_word' || mentionFlags.includes(flag);

/** The properties of a message that decide to which narrows it belongs. */
export interface Trait {
  place: Place;
  isMuted: boolean;
  flags: readonly string[];
}

/** Whether a message belongs to a narrow. Muted places are left out of the feed. Only the server can decide for a search. */
export function holds(narrow: Narrow, { place, isMuted, flags }: Trait): boolean {
  switch (narrow.kind) {
    case 'all':
      return true;
    case 'feed':
      return !isMuted;
    case 'mentions':
      return isMention(flags);
    case 'starred':
      return flags.includes('starred');
    case 'search':
      return false;
    case 'channel':
      return place.kind === 'topic' && place.channelId === narrow.channelId;
    default:
      return keyOf(narrow) === keyOf(place);
  }
}

/** The narrow as the API expresses it. */
export function termsOf(narrow: Narrow): Term[] {
  switch (narrow.kind) {
    case 'all':
      return [];
    case 'feed':
      return [{ operator: 'in', operand: 'home' }];
    case 'mentions':
      return [{ operator: 'is', operand: 'mentioned' }];
    case 'starred':
      return [{ operator: 'is', operand: 'starred' }];
    case 'search':
      return [...narrow.terms];
    case 'direct':
      return [{ operator: 'dm', operand: [...narrow.userIds] }];
    case 'channel':
      return [{ operator: 'channel', operand: narrow.channelId }];
    default:
      return [
        { operator: 'channel', operand: narrow.channelId },
        { operator: 'topic', operand: narrow.topic },
      ];
  }
}
