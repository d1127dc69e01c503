import type { EventMessage } from '@natter/client';

/** A message of a page or an event, with the flags that it has for its reader. */
export type Message = EventMessage & { flags: readonly string[] };

/** Where a message lies: a topic, or the conversation with some people. */
export type Place =
  | { kind: 'topic'; channelId: number; topic: string }
  | { kind: 'direct'; userIds: readonly number[] };

/** A list of messages that a page shows. */
export type Narrow = { kind: 'feed' } | { kind: 'channel'; channelId: number } | Place;

export function keyOf(narrow: Narrow): string {
  if (narrow.kind === 'feed') return 'feed';
  if (narrow.kind === 'channel') return `channel:${narrow.channelId}`;
  if (narrow.kind === 'direct') return `direct:${narrow.userIds.join(',')}`;
  return `topic:${narrow.channelId}:${narrow.topic.toLowerCase()}`;
}

export const topicPlace = (channelId: number, topic: string): Place => ({ kind: 'topic', channelId, topic });

/** The other participants; the reader alone for notes to themselves. */
export function directPlace(participants: readonly number[], ownId: number): Place {
  const others = [...new Set(participants)].filter((id) => id !== ownId).sort((a, b) => a - b);
  return { kind: 'direct', userIds: others.length > 0 ? others : [ownId] };
}

export const placeOf = (message: EventMessage, ownId: number): Place =>
  message.type === 'stream'
    ? topicPlace(message.stream_id, message.subject)
    : directPlace(
        message.display_recipient.map(({ id }) => id),
        ownId,
      );

/** Whether messages of a place belong to a narrow. Muted places are left out of the feed. */
export function holds(narrow: Narrow, place: Place, isMuted: boolean): boolean {
  if (narrow.kind === 'feed') return !isMuted;
  if (narrow.kind === 'channel') return place.kind === 'topic' && place.channelId === narrow.channelId;
  return keyOf(narrow) === keyOf(place);
}

/** The narrow as the API expresses it. */
export function termsOf(narrow: Narrow): { operator: string; operand: string | number | number[] }[] {
  if (narrow.kind === 'feed') return [{ operator: 'in', operand: 'home' }];
  if (narrow.kind === 'direct') return [{ operator: 'dm', operand: [...narrow.userIds] }];
  const channel = { operator: 'channel', operand: narrow.channelId };
  return narrow.kind === 'channel' ? [channel] : [channel, { operator: 'topic', operand: narrow.topic }];
}
