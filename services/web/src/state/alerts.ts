import type { ChatEvent } from '@natter/client';
import { isMuted, type Model, policyOf, topicPolicies } from './model.ts';
import { keyOf, type Message, type Narrow, type Place, placeOf } from './place.ts';

/** A new message of which the reader wants to be notified. */
export interface Alert {
  message: Message;
  place: Place;
  /** The lists that show the message when it arrives. */
  shownIn: readonly string[];
  hasSound: boolean;
}

/** Whether an event needs a notification, by the settings of the reader. The model has followed the event. */
export function alertOf(model: Model, event: ChatEvent): Alert | undefined {
  if (event.type !== 'message') return undefined;
  const message: Message = { ...event.message, flags: event.flags };
  if (message.sender_id === model.ownId || message.flags.includes('read')) return undefined;
  // The flag may follow later.
  if (model.muted.has(message.sender_id)) return undefined;
  const place = placeOf(message, model.ownId);
  if (!isWanted(model, message, place)) return undefined;
  const lists: Narrow[] = [place];
  if (place.kind === 'topic') lists.push({ kind: 'channel', channelId: place.channelId });
  if (!isMuted(model, place)) lists.push({ kind: 'feed' });
  return { message, place, shownIn: lists.map(keyOf), hasSound: model.writing.settings.enable_sounds !== false };
}

const wildcards: readonly string[] = [
  ...['wildcard_mentioned', 'stream_wildcard_mentioned', 'topic_wildcard_mentioned'],
];

function isWanted(model: Model, { flags }: Message, place: Place): boolean {
  const has = (setting: string): boolean => model.writing.settings[setting] === true;
  const isPersonal = place.kind === 'direct' || flags.includes('mentioned') || flags.includes('has_alert_word');
  if (isPersonal && has('enable_desktop_notifications')) return true;
  if (place.kind === 'direct' || isMuted(model, place)) return false;
  const channel = model.channels.get(place.channelId);
  const isToAll = flags.some((flag) => wildcards.includes(flag));
  if (isToAll && has('enable_desktop_notifications') && (channel?.wildcardsNotify ?? has('wildcard_mentions_notify')))
    return true;
  if (policyOf(model, place) === topicPolicies.followed && has('enable_followed_topic_desktop_notifications'))
    return true;
  return channel?.notifies ?? has('enable_stream_desktop_notifications');
}
