import { z } from 'zod';
import { bigId, list, number, string, union } from '../model/bounded.ts';
import { limits, perRequest } from '../model/limits.ts';
import { operation } from '../model/operation.ts';
import { bool, idList, json, text, textOrJson } from '../model/param.ts';

/** The fetch types of a register that this service answers. */
export const messagingFetchTypes: readonly string[] = [
  'message',
  'update_message_flags',
  'starred_messages',
  'recent_private_conversations',
  'drafts',
  'scheduled_messages',
  'reminders',
  'user_topic',
  'muted_topics',
];

/** Errors that refuse a message, both when it is sent at once and when it is scheduled. */
export const sendingErrors = [
  'STREAM_DOES_NOT_EXIST',
  'BAD_REQUEST',
  'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
  'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
] as const;

export const messageType = z
  .enum(['direct', 'private', 'channel', 'stream'])
  .describe('The kind of message. `private` means `direct`, and `stream` means `channel`.');

/** The number of recipients that have the weight of one request: each gets a row and an event that names all of them. */
const recipientsPerUnit = 25;

/** The weight of the recipients of a direct message. */
export function recipientsWeight(type: z.output<typeof messageType> | undefined, to: unknown): number {
  if (type === 'channel' || type === 'stream') return 0;
  const count = Array.isArray(to) ? to.length : typeof to === 'string' ? to.split(',').length : 1;
  return count / recipientsPerUnit;
}

const linkedFilesPerUnit = 10;

/** The weight of the files that a text links: the owner of each gets an event that repeats messages with the file. */
export const linkedFilesWeight = (content = ''): number =>
  Math.min(content.split('/user_uploads/').length - 1, perRequest.linkedFiles) / linkedFilesPerUnit;

export const messagingOperations = {
  sendMessage: operation({
    name: 'send-message',
    service: 'messaging',
    http: { method: 'POST', path: '/messages' },
    summary: 'Send a message.',
    isForWriteOnly: true,
    retriedBy: ['queue_id', 'local_id'],
    weigh: ({ type, to, content }) => recipientsWeight(type, to) + linkedFilesWeight(content),
    params: {
      type: text(messageType),
      to: textOrJson(
        union([bigId, string(20_000), idList(1_000), list(string(300), 1_000)]).describe(
          'The recipients: the ID or the name of a channel, or the IDs or email addresses of at most 250 users.',
        ),
      ),
      topic: text(string(1_000).optional(), 'subject'),
      content: text(string(40_000).describe('The content, in Markdown, at most `max_message_length` characters.')),
      queue_id: text(string(200).optional()),
      local_id: text(string(100).optional()),
      read_by_sender: json(bool.optional()),
      widget_content: text(string(110_000).optional()),
      sender: text(
        string(1_000)
          .describe(
            'The API email address of the user in whose name a mirroring bot sends. Only for bots with the right `can_forge_sender`.',
          )
          .optional(),
      ),
      forged: text(string(20).optional()),
      time: json(number(0, 1e12).optional()),
    },
    result: z.object({
      id: z.int().describe('The ID of the new message.'),
      automatic_new_visibility_policy: z.int().optional(),
    }),
    errors: sendingErrors,
    projections: 'current-on-refusal',
    events: ['message', 'user_topic'],
  }),
  renderMessage: operation({
    name: 'render-message',
    service: 'messaging',
    http: { method: 'POST', path: '/messages/render' },
    summary: 'What a text would look like as a message.',
    weight: 2,
    params: { content: text(string(40_000).describe('The text to render, in Markdown.')) },
    result: z.object({ rendered: z.string() }),
    isReadOnly: true,
  }),
  testWelcomeMessage: operation({
    name: 'test-welcome-message',
    service: 'messaging',
    http: { method: 'POST', path: '/realm/test_welcome_bot_custom_message' },
    role: 'administrator',
    summary: 'Send the caller a text as newcomers would be sent it.',
    weigh: ({ welcome_message_custom_text }) => linkedFilesWeight(welcome_message_custom_text),
    params: { welcome_message_custom_text: text(string(limits.welcomeTextLength)) },
    result: z.object({ message_id: z.int() }),
    errors: ['BAD_REQUEST'],
    events: ['message'],
  }),
};
