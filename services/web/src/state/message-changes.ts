import type { ChatEvent } from '@natter/client';
import { isOfText, type Message, type Reaction } from './place.ts';

export function withSubmessage(message: Message, event: Extract<ChatEvent, { type: 'submessage' }>): Message {
  const { submessage_id: id, message_id, sender_id, msg_type, content } = event;
  if (message.submessages.some((one) => one.id === id)) return message;
  return { ...message, submessages: [...message.submessages, { id, message_id, sender_id, msg_type, content }] };
}

export function reactionsAfter(message: Message, event: Extract<ChatEvent, { type: 'reaction' }>): readonly Reaction[] {
  const { emoji_name, emoji_code, reaction_type, user_id } = event;
  const others = message.reactions.filter(
    (one) => one.user_id !== user_id || one.emoji_code !== emoji_code || one.reaction_type !== reaction_type,
  );
  if (event.op === 'remove') return others;
  // A reaction that exists already keeps its position.
  return others.length < message.reactions.length
    ? message.reactions
    : [...others, { emoji_name, emoji_code, reaction_type, user_id }];
}

export function withFlag(message: Message, flag: string, isSet: boolean): Message {
  if (message.flags.includes(flag) === isSet) return message;
  return { ...message, flags: isSet ? [...message.flags, flag] : message.flags.filter((one) => one !== flag) };
}

/**
 * The message with the text of an event about it. A text that was only rendered again was not edited. Flags that
 * the reader sets are not changed, because the event may contain older values than the message.
 */
export function withText(
  message: Message,
  { is_me_message, flags, rendering_only, edit_timestamp }: Extract<ChatEvent, { type: 'update_message' }>,
  content: string,
): Message {
  const edited = rendering_only ? {} : { last_edit_timestamp: edit_timestamp };
  const after = [...message.flags.filter((flag) => !isOfText(flag)), ...flags.filter(isOfText)];
  return { ...message, content, is_me_message: is_me_message ?? message.is_me_message, flags: after, ...edited };
}
