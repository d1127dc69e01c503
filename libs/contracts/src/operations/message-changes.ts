import { z } from 'zod';
import { bigId, id, list, string, union } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, idList, json, text, textOrJson } from '../model/param.ts';
import { linkedFilesWeight, recipientsWeight } from './messaging.ts';
import { attachmentSchema } from './uploads.ts';

const messageId = json(bigId);
const startOrStop = text(z.enum(['start', 'stop']).describe('Whether the caller started or stopped typing.'));
const reactionType = z.enum(['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji']);

/** One version of a message; the `prev_` fields exist only where that version changed them. */
const editSnapshotSchema = z.object({
  topic: z.string(),
  content: z.string(),
  rendered_content: z.string(),
  timestamp: z.int().describe('When the version was made, in seconds since the epoch.'),
  user_id: z.int().nullable().describe('The ID of the user who made the version; null if unknown.'),
  prev_topic: z.string().optional(),
  stream: z.int().describe('The ID of the channel after the edit, if the channel changed.').optional(),
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
    weight: 2,
    weigh: ({ propagate_mode, content }) => (propagate_mode === 'change_one' ? 0 : 3) + linkedFilesWeight(content),
    params: {
      message_id: messageId,
      topic: text(string(1_000).optional(), 'subject'),
      propagate_mode: text(z.enum(['change_one', 'change_later', 'change_all']).default('change_one')),
      send_notification_to_old_thread: json(bool.default(false)),
      send_notification_to_new_thread: json(bool.default(true)),
      content: text(
        string(40_000).describe('The new content, in Markdown, at most `max_message_length` characters.').optional(),
      ),
      prev_content_sha256: text(string(1_000).optional()),
      stream_id: json(id.describe('The ID of the channel to which the messages move.').optional()),
    },
    result: z.object({ detached_uploads: z.array(attachmentSchema) }),
    errors: [
      'BAD_REQUEST',
      'EXPECTATION_MISMATCH',
      'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
      'RATE_LIMIT_HIT',
      'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
      'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
    ],
    events: ['update_message', 'delete_message', 'user_topic', 'message', 'attachment'],
    // 50,000 messages are moved in about 10 s.
    deadlineMs: 60_000,
  }),
  getMessageHistory: operation({
    name: 'get-message-history',
    service: 'messaging',
    http: { method: 'GET', path: '/messages/{message_id}/history' },
    summary: "A message's edit history.",
    weight: 5,
    params: { message_id: messageId, allow_empty_topic_name: json(bool.default(false)) },
    result: z.object({ message_history: z.array(editSnapshotSchema) }),
    errors: ['BAD_REQUEST'],
  }),
  deleteMessage: operation({
    name: 'delete-message',
    service: 'messaging',
    http: { method: 'DELETE', path: '/messages/{message_id}' },
    weight: 2,
    summary: 'Delete a message for good.',
    params: { message_id: messageId },
    errors: ['BAD_REQUEST'],
    events: ['delete_message', 'attachment', 'update_message_flags'],
  }),
  deleteTopic: operation({
    name: 'delete-topic',
    service: 'messaging',
    http: { method: 'POST', path: '/streams/{stream_id}/delete_topic' },
    summary: 'Delete all messages of a topic, as many at a time as one call may take.',
    weight: 10,
    params: { stream_id: json(id), topic_name: text(string(1_000)) },
    result: z.object({ complete: bool }),
    errors: ['BAD_REQUEST'],
    events: ['delete_message', 'attachment', 'update_message_flags'],
    deadlineMs: 60_000,
  }),
  addReaction: operation({
    name: 'add-reaction',
    service: 'messaging',
    http: { method: 'POST', path: '/messages/{message_id}/reactions' },
    summary: 'React to a message with an emoji.',
    params: {
      message_id: messageId,
      emoji_name: text(string(1_000)),
      emoji_code: text(string(1_000).optional()),
      reaction_type: text(string(1_000).optional()),
    },
    errors: ['BAD_REQUEST', 'REACTION_ALREADY_EXISTS'],
    events: ['reaction', 'user_topic', 'muted_topics'],
  }),
  removeReaction: operation({
    name: 'remove-reaction',
    service: 'messaging',
    http: { method: 'DELETE', path: '/messages/{message_id}/reactions' },
    summary: "Take one's reaction back.",
    params: {
      message_id: messageId,
      emoji_name: text(string(1_000).optional()),
      emoji_code: text(string(1_000).optional()),
      reaction_type: text(union([reactionType, z.literal('')]).optional()),
    },
    errors: ['BAD_REQUEST', 'REACTION_DOES_NOT_EXIST'],
    events: ['reaction'],
  }),
  getReadReceipts: operation({
    name: 'get-read-receipts',
    service: 'messaging',
    http: { method: 'GET', path: '/messages/{message_id}/read_receipts' },
    summary: 'Who has read a message.',
    weight: 3,
    params: { message_id: messageId },
    result: z.object({ user_ids: z.array(z.int()).describe('The IDs of the users who have read the message.') }),
    errors: ['BAD_REQUEST'],
  }),
  setTyping: operation({
    name: 'set-typing',
    service: 'messaging',
    http: { method: 'POST', path: '/typing' },
    summary: 'Tell that the caller has started or stopped typing a message.',
    weigh: ({ type, to }) => recipientsWeight(type, to),
    isForWriteOnly: true,
    params: {
      type: text(
        z
          .enum(['direct', 'private', 'channel', 'stream'])
          .default('direct')
          .describe('The kind of message. `private` means `direct`, and `stream` means `channel`.'),
      ),
      op: startOrStop,
      to: textOrJson(
        union([id, string(20_000), idList(1_000), list(string(300), 1_000)])
          .describe('The IDs or email addresses of the users who receive the direct message.')
          .optional(),
      ),
      stream_id: json(id.optional()),
      topic: text(string(1_000).optional()),
    },
    errors: ['BAD_REQUEST'],
    events: ['typing'],
  }),
  setMessageTyping: operation({
    name: 'set-message-typing',
    service: 'messaging',
    http: { method: 'POST', path: '/messages/{message_id}/typing' },
    summary: 'Tell that the caller has started or stopped editing a message.',
    params: { message_id: messageId, op: startOrStop },
    errors: ['BAD_REQUEST'],
    events: ['typing_edit_message'],
  }),
  reportMessage: operation({
    name: 'report-message',
    service: 'messaging',
    http: { method: 'POST', path: '/messages/{message_id}/report' },
    summary: 'Report a message to the moderators.',
    weight: 3,
    params: {
      message_id: messageId,
      report_type: text(z.enum(['spam', 'harassment', 'inappropriate', 'norms', 'other'])),
      description: text(
        string(10_000).describe('What is wrong, at most 1,000 characters; required for the type `other`.').optional(),
      ),
    },
    errors: ['BAD_REQUEST'],
  }),
  addSubmessage: operation({
    name: 'add-submessage',
    service: 'messaging',
    http: { method: 'POST', path: '/submessage' },
    summary: 'Add to a message, such as to its widget (a poll, a list of tasks).',
    params: {
      message_id: messageId,
      msg_type: text(string(100)),
      content: text(string(110_000).describe('JSON text that the widget understands.')),
    },
    errors: ['BAD_REQUEST'],
    events: ['submessage', 'user_topic', 'muted_topics'],
  }),
};
