import { z } from 'zod';
import { anyJson, bigId, id, list, number, string, union } from '../model/bounded.ts';
import { perRequest } from '../model/limits.ts';
import { operation } from '../model/operation.ts';
import { bool, json, text, textOrJson } from '../model/param.ts';
import { messageObject } from './message-object.ts';

const maxCharacters = 100_000;
const maxParts = 10_000;
const word = { type: 'string', maxLength: maxCharacters } as const;
const whole = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const;
const operand = { anyOf: [word, whole, { type: 'array', items: whole, maxItems: maxParts }] };
/** Accepts any JSON, because handlers report an invalid narrow as BAD_NARROW. The description is for clients. */
const narrowJson = anyJson({ characters: maxCharacters, depth: 4, parts: maxParts }).meta({
  type: 'array',
  maxItems: perRequest.narrowTerms,
  items: {
    anyOf: [
      {
        type: 'object',
        properties: {
          operator: { ...word, description: 'The operator of the term, such as `channel`, `topic` or `is`.' },
          operand: { ...operand, description: 'What the operator compares with.' },
          negated: {
            type: 'boolean',
            default: false,
            description: 'Whether messages match for which the term does not hold.',
          },
        },
        required: ['operator', 'operand'],
      },
      { type: 'array', prefixItems: [word, operand], items: operand, minItems: 2, maxItems: 2 },
    ],
  },
});
const narrow = json(narrowJson);
/** Not limited to safe integers: clients send back the anchor of "newest", which is 10,000,000,000,000,000. */
const anchorId = z.number().multipleOf(1);
const anchor = textOrJson(union([number(-1e18, 1e18).multipleOf(1), string(100)]));
const messageIds = list(bigId, 10_000);

const op = text(z.enum(['add', 'remove']).describe('Whether the flag is added or removed.'));

/** The number of messages that have the weight of one request. */
const messagesPerUnit = 500;

/** Results of flag changes. */
const skipped = { ignored_because_not_subscribed_channels: z.array(z.int()) };
const done = z.object({ complete: z.boolean() });

/**
 * A full-text search has more weight, because it compares and highlights texts; other narrows only read indexes. Terms are
 * objects with an operator, or pairs.
 */
function searchWeight(narrow: unknown): number {
  const searches = Array.isArray(narrow) ? narrow.filter(isSearch).map(searchedIn) : [];
  if (searches.length === 0) return 0;
  // Each phrase is compared with the whole text of messages. More of them are refused.
  const quotes = searches.reduce((sum, text) => sum + text.split('"').length - 1, 0);
  return 3 + Math.min(quotes / 2, perRequest.searchPhrases) / 2;
}

function isSearch(term: unknown): term is unknown[] | { operand?: unknown } {
  if (Array.isArray(term)) return term[0] === 'search';
  return typeof term === 'object' && term !== null && 'operator' in term && term.operator === 'search';
}

function searchedIn(term: unknown[] | { operand?: unknown }): string {
  const searched = Array.isArray(term) ? term[1] : term.operand;
  return typeof searched === 'string' ? searched : '';
}

export const messageReadingOperations = {
  getMessages: operation({
    name: 'get-messages',
    service: 'messaging',
    caller: 'spectator',
    http: { method: 'GET', path: '/messages' },
    summary: 'Messages around an anchor that match a narrow, or messages by ID.',
    weight: 2,
    weigh: ({ num_before = 0, num_after = 0, message_ids = [], narrow }) =>
      (num_before + num_after + message_ids.length) / messagesPerUnit + searchWeight(narrow),
    params: {
      anchor: textOrJson(union([number(-1e18, 1e18).multipleOf(1), string(100)]).optional()),
      anchor_date: text(string(100).optional()),
      include_anchor: json(bool.default(true)),
      num_before: json(id.min(0).optional()),
      num_after: json(id.min(0).optional()),
      narrow: json(narrowJson.optional()),
      client_gravatar: json(bool.default(true)),
      apply_markdown: json(bool.default(true)),
      use_first_unread_anchor: json(bool.default(false)),
      message_ids: json(
        messageIds.describe('The IDs of the messages to read, instead of those around an anchor.').optional(),
      ),
      allow_empty_topic_name: json(bool.default(false)),
    },
    result: z.object({
      anchor: anchorId.describe('The ID of the message that was the anchor.'),
      found_anchor: z.boolean(),
      found_newest: z.boolean(),
      found_oldest: z.boolean(),
      history_limited: z.boolean(),
      messages: z.array(messageObject).describe('The messages, oldest first.'),
    }),
    errors: ['INCOMPATIBLE_PARAMETERS', 'BAD_NARROW', 'BAD_REQUEST', 'REQUEST_VARIABLE_MISSING'],
  }),
  getMessage: operation({
    name: 'get-message',
    service: 'messaging',
    caller: 'spectator',
    http: { method: 'GET', path: '/messages/{message_id}' },
    summary: 'One message, with its source.',
    params: {
      message_id: json(bigId),
      apply_markdown: json(bool.default(true)),
      allow_empty_topic_name: json(bool.default(false)),
    },
    result: z.object({ message: messageObject, raw_content: z.string() }),
    errors: ['BAD_REQUEST'],
  }),
  getMessagesSummary: operation({
    name: 'get-messages-summary',
    service: 'messaging',
    http: { method: 'GET', path: '/messages/summary' },
    summary: 'A summary of the messages of a narrow. It is refused, because no model is configured.',
    params: { narrow: json(narrowJson.optional()) },
    result: z.object({ summary: z.string().describe('The summary, in Markdown.') }),
    errors: ['BAD_REQUEST'],
  }),
  matchNarrow: operation({
    name: 'match-narrow',
    service: 'messaging',
    http: { method: 'GET', path: '/messages/matches_narrow' },
    summary: 'Which of these messages match a narrow.',
    weight: 2,
    weigh: ({ msg_ids, narrow }) => msg_ids.length / messagesPerUnit + searchWeight(narrow),
    params: { msg_ids: json(messageIds), narrow: json(narrowJson.refine((given) => given !== undefined)) },
    result: z.object({
      messages: z
        .record(z.string(), z.object({ match_content: z.string(), match_subject: z.string() }))
        .describe('The messages that match, by ID.'),
    }),
    errors: ['BAD_NARROW', 'BAD_REQUEST'],
  }),
  updateFlags: operation({
    name: 'update-message-flags',
    service: 'messaging',
    http: { method: 'POST', path: '/messages/flags' },
    summary: 'Add or remove a personal flag of messages: read, starred, collapsed.',
    // Each message may be in another private channel, which is looked up.
    weigh: ({ messages }) => messages.length / 200,
    params: {
      messages: json(
        messageIds.describe(
          'The IDs of the messages. A missing message counts as read, not starred and not collapsed: another change of it is refused.',
        ),
      ),
      op,
      flag: text(string(100)),
    },
    result: z.object({
      messages: z.array(z.int()).describe('The IDs of the messages that have or lack the flag now.'),
      ...skipped,
    }),
    errors: ['BAD_REQUEST'],
    events: ['update_message_flags'],
  }),
  updateFlagsForNarrow: operation({
    name: 'update-message-flags-for-narrow',
    service: 'messaging',
    http: { method: 'POST', path: '/messages/flags/narrow' },
    summary: 'Add or remove a personal flag of the messages around an anchor that match a narrow.',
    weight: 5,
    weigh: ({ num_before, num_after, narrow }) =>
      (num_before + num_after) / (2 * messagesPerUnit) + searchWeight(narrow),
    params: {
      anchor,
      include_anchor: json(bool.default(true)),
      num_before: json(id.min(0)),
      num_after: json(id.min(0)),
      narrow,
      op,
      flag: text(string(100)),
    },
    result: z.object({
      processed_count: z.int(),
      updated_count: z.int(),
      first_processed_id: z.int().nullable(),
      last_processed_id: z.int().nullable(),
      found_oldest: z.boolean(),
      found_newest: z.boolean(),
      ...skipped,
    }),
    errors: ['BAD_NARROW', 'BAD_REQUEST'],
    events: ['update_message_flags'],
  }),
  markAllRead: operation({
    name: 'mark-all-as-read',
    service: 'messaging',
    http: { method: 'POST', path: '/mark_all_as_read' },
    summary: 'Mark everything as read.',
    weight: 5,
    result: done,
    events: ['update_message_flags'],
    deadlineMs: 60_000,
  }),
  markChannelRead: operation({
    name: 'mark-stream-as-read',
    service: 'messaging',
    http: { method: 'POST', path: '/mark_stream_as_read' },
    summary: 'Mark a channel as read.',
    weight: 5,
    params: { stream_id: json(id) },
    errors: ['BAD_REQUEST'],
    events: ['update_message_flags'],
  }),
  markTopicRead: operation({
    name: 'mark-topic-as-read',
    service: 'messaging',
    http: { method: 'POST', path: '/mark_topic_as_read' },
    summary: 'Mark a topic as read.',
    weight: 3,
    params: { stream_id: json(id), topic_name: text(string(1_000)) },
    errors: ['BAD_REQUEST'],
    events: ['update_message_flags'],
  }),
  getPointer: operation({
    name: 'get-pointer',
    service: 'messaging',
    http: { method: 'GET', path: '/users/me/pointer' },
    summary: 'Where an old client says its user has read to; -1 before it said so. Deprecated.',
    result: z.object({ pointer: z.int() }),
  }),
  setPointer: operation({
    name: 'set-pointer',
    service: 'messaging',
    http: { method: 'POST', path: '/users/me/pointer' },
    summary: 'Move that forward. Deprecated.',
    params: { pointer: json(bigId.min(0)) },
    errors: ['BAD_REQUEST'],
  }),
  getTopics: operation({
    name: 'get-topics',
    service: 'messaging',
    caller: 'spectator',
    http: { method: 'GET', path: '/users/me/{stream_id}/topics' },
    summary: "A channel's topics, those with the newest messages first: all, or the newest 20,000.",
    weight: 2,
    params: { stream_id: json(id), allow_empty_topic_name: json(bool.default(false)) },
    result: z.object({ topics: z.array(z.object({ max_id: z.int(), name: z.string().describe('The topic.') })) }),
    errors: ['BAD_REQUEST'],
  }),
  getMaxMessageId: operation({
    name: 'get-max-message-id',
    service: 'messaging',
    caller: 'internal',
    callers: ['users'],
    summary:
      'The ID of the newest message that a user received, -1 where there is none; as a register tells it. Bus only.',
    params: { user_id: json(id) },
    result: z.object({ max_message_id: z.int() }),
    isReadOnly: true,
  }),
};
