import type { Json } from '@natter/testkit';

/** A client's state of messages: unread messages by conversation, mentions, stars, and topic preferences. */
export interface MessageState {
  unread: Map<number, string>;
  mentions: Set<number>;
  starred: Set<number>;
  topics: Map<string, number>;
}

const place = (channelId: number, topic: string): string => `${channelId}:${topic.toLowerCase()}`;
const direct = 'direct';
const mentions = (flags: string[]): boolean => flags.some((flag) => flag.includes('mentioned'));

/** The state from a register. */
export function stateOf({ unread_msgs, starred_messages, user_topics }: Json): MessageState {
  const unread = new Map<number, string>();
  for (const one of unread_msgs.streams)
    for (const id of one.unread_message_ids) unread.set(id, place(one.stream_id, one.topic));
  for (const one of [...unread_msgs.pms, ...unread_msgs.huddles])
    for (const id of one.unread_message_ids) unread.set(id, direct);
  return {
    unread,
    mentions: new Set(unread_msgs.mentions),
    starred: new Set(starred_messages),
    topics: new Map(user_topics.map((one: Json) => [place(one.stream_id, one.topic_name), one.visibility_policy])),
  };
}

function forget(state: MessageState, id: number): void {
  state.unread.delete(id);
  state.mentions.delete(id);
}

/** Applies events like clients that support lists of deleted messages and the empty topic. */
const follows: Record<string, (state: MessageState, event: Json) => void> = {
  message(state, { message, flags }) {
    if (flags.includes('read')) return;
    state.unread.set(message.id, message.type === 'stream' ? place(message.stream_id, message.subject) : direct);
    if (mentions(flags)) state.mentions.add(message.id);
  },
  update_message(state, event) {
    if (event.orig_subject !== undefined)
      for (const id of event.message_ids)
        if (state.unread.has(id))
          state.unread.set(id, place(event.new_stream_id ?? event.stream_id, event.subject ?? event.orig_subject));
    if (event.content === undefined || !state.unread.has(event.message_id)) return;
    if (mentions(event.flags)) state.mentions.add(event.message_id);
    else state.mentions.delete(event.message_id);
  },
  delete_message(state, { message_ids }) {
    for (const id of message_ids) {
      forget(state, id);
      state.starred.delete(id);
    }
  },
  update_message_flags(state, { op, flag, messages, message_details }) {
    for (const id of messages)
      if (flag === 'starred') {
        if (op === 'add') state.starred.add(id);
        else state.starred.delete(id);
      } else if (flag === 'read' && op === 'add') forget(state, id);
      else if (flag === 'read') {
        const details = message_details[id];
        state.unread.set(id, details.type === 'stream' ? place(details.stream_id, details.topic) : direct);
        if (details.mentioned) state.mentions.add(id);
      }
  },
  user_topic(state, { stream_id, topic_name, visibility_policy }) {
    if (visibility_policy === 0) state.topics.delete(place(stream_id, topic_name));
    else state.topics.set(place(stream_id, topic_name), visibility_policy);
  },
};

export const follow = (state: MessageState, event: Json): void => follows[event.type]?.(state, event);

/** The state in a sorted form, for comparisons. */
export const shown = ({ unread, mentions: mentioned, starred, topics }: MessageState) => ({
  unread: [...unread].sort(([a], [b]) => a - b),
  mentions: [...mentioned].sort((a, b) => a - b),
  starred: [...starred].sort((a, b) => a - b),
  topics: [...topics].sort(),
});
