import { keyOf, type Message, type Place, placeOf } from './place.ts';
import type { View } from './views.ts';

export interface Conversation {
  key: string;
  place: Place;
  newest: Message;
  /** The senders, the latest first. */
  senderIds: readonly number[];
}

/** The conversations of loaded messages, with the newest message first. */
export function conversationsOf(
  view: View,
  messages: ReadonlyMap<number, Message>,
  ownId: number,
): readonly Conversation[] {
  const found = new Map<string, { key: string; place: Place; newest: Message; senderIds: number[] }>();
  for (const id of view.ids.toReversed()) {
    const message = messages.get(id);
    if (!message) continue;
    const place = placeOf(message, ownId);
    const key = keyOf(place);
    const known = found.get(key);
    if (!known) found.set(key, { key, place, newest: message, senderIds: [message.sender_id] });
    else if (!known.senderIds.includes(message.sender_id)) known.senderIds.push(message.sender_id);
  }
  return [...found.values()];
}
