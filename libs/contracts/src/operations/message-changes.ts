import { z } from 'zod';
import { operation } from '../operation.ts';
import { bool, int, json, text, textOrJson } from '../param.ts';

const messageId = json(int);
const reactionType = z.enum(['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji']);

/** Specification 2.7. */
export const editSnapshotSchema = z.object({
  topic: z.string(),
  content: z.string(),
  rendered_content: z.string(),
  timestamp: z.int(),
  user_id: z.int().nullable(),
  prev_topic: z.string().optional(),
  stream: z.int().optional(),
  prev_stream: z.int().optional(),
  prev_content: z.string().optional(),
  prev_rendered_content: z.string().optional(),
  content_html_diff: z.string().optional(),
});
export type EditSnapshot = z.infer<typeof editSnapshotSchema>;

export const messageChangeOperations = {
  updateMessage: operation({
    name: 'update-message',
    service: 'messaging',
    http: { method: 'PATCH', path: '/messages/{message_id}' },
    summary: "Change a message's content, topic or channel.",
    params: {
      message_id: messageId,
      topic: text(z.string().optional(), 'subject'),
      propagate_mode: text(z.enum(['change_one', 'change_later', 'change_all']).default('change_one')),
      send_notification_to_old_thread: json(bool.default(false)),
      send_notification_to_new_thread: json(bool.default(true)),
      content: text(z.string().optional()),
      prev_content_sha256: text(z.string().optional()),
      stream_id: json(int.optional()),
    },
    result: z.object({ detached_uploads: z.array(z.looseObject({})) }),
    errors: [
      'BAD_REQUEST',
      'EXPECTATION_MISMATCH',
      'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
      'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
      'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
    ],
    events: ['update_message', 'delete_message', 'user_topic', 'message'],
  }),
  getMessageHistory: operation({
    name: 'get-message-history',
    service: 'messaging',
    http: { method: 'GET', path: '/messages/{message_id}/history' },
    summary: "A message's edit history (specification 4.12).",
    params: { message_id: messageId, allow_empty_topic_name: json(bool.default(false)) },
    result: z.object({ message_history: z.array(editSnapshotSchema) }),
    errors: ['BAD_REQUEST'],
  }),
  deleteMessage: operation({
    name: 'delete-message',
    service: 'messaging',
    http: { method: 'DELETE', path: '/messages/{message_id}' },
    summary: 'Delete a message for good.',
    params: { message_id: messageId },
    errors: ['BAD_REQUEST'],
    events: ['delete_message'],
  }),
  deleteTopic: operation({
    name: 'delete-topic',
    service: 'messaging',
    http: { method: 'POST', path: '/streams/{stream_id}/delete_topic' },
    summary: 'Delete all messages of a topic, as many at a time as one call may take.',
    params: { stream_id: json(int), topic_name: text(z.string()) },
    result: z.object({ complete: bool }),
    errors: ['BAD_REQUEST'],
    events: ['delete_message'],
    deadlineMs: 60_000,
  }),
  addReaction: operation({
    name: 'add-reaction',
    service: 'messaging',
    http: { method: 'POST', path: '/messages/{message_id}/reactions' },
    summary: 'React to a message with an emoji.',
    params: {
      message_id: messageId,
      emoji_name: text(z.string()),
      emoji_code: text(z.string().optional()),
      reaction_type: text(z.string().optional()),
    },
    errors: ['BAD_REQUEST', 'REACTION_ALREADY_EXISTS'],
    events: ['reaction'],
  }),
  removeReaction: operation({
    name: 'remove-reaction',
    service: 'messaging',
    http: { method: 'DELETE', path: '/messages/{message_id}/reactions' },
    summary: "Take one's reaction back.",
    params: {
      message_id: messageId,
      emoji_name: text(z.string().optional()),
      emoji_code: text(z.string().optional()),
      reaction_type: text(z.union([reactionType, z.literal('')]).optional()),
    },
    errors: ['BAD_REQUEST', 'REACTION_DOES_NOT_EXIST'],
    events: ['reaction'],
  }),
  getReadReceipts: operation({
    name: 'get-read-receipts',
    service: 'messaging',
    http: { method: 'GET', path: '/messages/{message_id}/read_receipts' },
    summary: 'Who has read a message.',
    params: { message_id: messageId },
    result: z.object({ user_ids: z.array(z.int()) }),
    errors: ['BAD_REQUEST'],
  }),
  setTyping: operation({
    name: 'set-typing',
    service: 'messaging',
    http: { method: 'POST', path: '/typing' },
    summary: 'Tell that the caller has started or stopped typing a message.',
    params: {
      type: text(z.enum(['direct', 'private', 'channel', 'stream']).default('direct')),
      op: text(z.enum(['start', 'stop'])),
      to: textOrJson(z.union([z.int(), z.string(), z.array(z.int()), z.array(z.string())]).optional()),
      stream_id: json(int.optional()),
      topic: text(z.string().optional()),
    },
    errors: ['BAD_REQUEST'],
    events: ['typing'],
  }),
  setMessageTyping: operation({
    name: 'set-message-typing',
    service: 'messaging',
    http: { method: 'POST', path: '/messages/{message_id}/typing' },
    summary: 'Tell that the caller has started or stopped editing a message.',
    params: { message_id: messageId, op: text(z.enum(['start', 'stop'])) },
    errors: ['BAD_REQUEST'],
    events: ['typing_edit_message'],
  }),
  addSubmessage: operation({
    name: 'add-submessage',
    service: 'messaging',
    http: { method: 'POST', path: '/submessage' },
    summary: 'Add to a widget (a poll, a list of tasks) that a message carries.',
    params: { message_id: messageId, msg_type: text(z.string()), content: text(z.string()) },
    errors: ['BAD_REQUEST'],
    events: ['submessage'],
  }),
};
