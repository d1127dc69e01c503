import { z } from 'zod';
import { anyJson, bigId, id, integer, list, object, record, string, tuple, union } from '../model/bounded.ts';
import { recordOf } from '../model/keys.ts';
import { type BusUser, operation } from '../model/operation.ts';
import { bool, int, json, text, textOrJson } from '../model/param.ts';
import { capabilityNames } from '../vocabulary/events.ts';
import { includeSubscribers, subscribersChoice } from './channels.ts';
import { registerState } from './register-state.ts';

const queueId = text(string(200).describe('The ID of the queue.'));

/** A queue: the row in Postgres, and the record that gateways cache. */
export const queueRecordSchema = z.object({
  queue_id: z.string(),
  realm_id: z.int(),
  user_id: z.int(),
  /** The log number of the register's state; the queue delivers later events. */
  start: z.int(),
  epoch: z.int(),
  created_at: z.number(),
  idle_timeout_seconds: z.int(),
  event_types: z.array(z.string()).nullable(),
  narrow: z.array(z.object({ operator: z.string(), operand: z.string(), negated: z.boolean() })),
  all_public_streams: z.boolean(),
  apply_markdown: z.boolean(),
  client_gravatar: z.boolean(),
  slim_presence: z.boolean(),
  capabilities: z.record(z.string(), z.boolean()),
});
export type QueueRecord = z.infer<typeof queueRecordSchema>;

const narrowTerm = union([
  tuple([string(100), string(1_000)]).transform(([operator, operand]) => ({ operator, operand, negated: false })),
  object({ operator: string(100), operand: string(1_000), negated: bool.default(false) }),
]);

/** The parameters of a queue. */
const queueParams = {
  apply_markdown: json(bool.default(false)),
  client_gravatar: json(bool.nullish()),
  slim_presence: json(bool.default(false)),
  event_types: json(list(string(100), 500).nullish()),
  all_public_streams: json(bool.nullish()),
  narrow: json(
    list(narrowTerm, 100)
      .nullish()
      .describe('A filter of the `message` events, as pairs of an operator and an operand. By default none.'),
  ),
  idle_queue_timeout: textOrJson(
    union([id.min(0), z.literal('mobile')]).nullish(),
    'queue_lifespan_secs',
    'lifespan_secs',
  ),
};

/** The section of a register that one service provides, read in the transaction snapshot that event-queue exported. */
const snapshotPart = (service: 'users' | 'channels' | 'messaging' | 'presence') =>
  operation({
    name: `snapshot-${service}`,
    service,
    caller: 'internal',
    callers: ['event-queue'],
    summary: `The ${service} part of a register snapshot. Bus only.`,
    params: {
      snapshot: text(string(1_000)),
      /** 0 for a spectator. */
      user_id: json(id),
      types: json(list(string(100), 500).nullable()),
      include_subscribers: text(subscribersChoice),
      client_gravatar: json(bool),
      slim_presence: json(bool),
      presence_history_limit_days: json(id.optional()),
      capabilities: json(record(bool, { keys: 100, keyCharacters: 100 })),
    },
    result: z.looseObject({}),
    isReadOnly: true,
  });

const catchUp = (service: 'users' | 'channels' | 'messaging' | 'presence', ...others: BusUser[]) =>
  operation({
    name: 'catch-up',
    service,
    caller: 'internal',
    callers: ['event-queue', ...others],
    summary: `Brings the copies of ${service} up to what is committed. Bus only.`,
    isReadOnly: true,
    deadlineMs: 10_000,
  });

/** Users waits for it after a mute, which decides about messages that are sent afterwards. */
export const catchUpMessaging = catchUp('messaging', 'users');

/** Answered by every owner of a part of the snapshot. */
export const catchUpOperations = [catchUp('users'), catchUp('channels'), catchUpMessaging, catchUp('presence')];

export const eventQueueOperations = {
  getLogKeys: operation({
    name: 'get-log-keys',
    service: 'event-queue',
    caller: 'internal',
    callers: ['gateway'],
    summary: 'The keys by which entries of the log are known for those of their services. Bus only.',
    result: z.object({ keys: z.array(z.object({ source: z.string(), key: z.base64() })) }),
    isReadOnly: true,
    deadlineMs: 5_000,
  }),
  register: operation({
    name: 'register',
    service: 'event-queue',
    http: { method: 'POST', path: '/register' },
    caller: 'spectator',
    checksCredential: true,
    summary: 'Register an event queue and fetch the state it starts from.',
    weight: 10,
    params: {
      ...queueParams,
      include_subscribers: includeSubscribers,
      presence_history_limit_days: json(id.min(0).nullish()),
      client_capabilities: json(
        record(anyJson({ characters: 1_000, depth: 2, parts: 20 }), { keys: 100, keyCharacters: 100 }).nullish(),
      ),
      fetch_event_types: json(list(string(100), 500).nullish()),
      pronouns_field_type_supported: json(bool.nullish()),
      user_client: text(string(1_000).optional()),
    },
    result: z.object({
      ...registerState,
      queue_id: z.string().nullable().describe('The ID of the new queue; null without authentication.'),
      last_event_id: z.int().describe('The value to send as `last_event_id` in the first poll.'),
    }),
    errors: ['BAD_REQUEST', 'UNAUTHORIZED', 'RATE_LIMIT_HIT'],
    deadlineMs: 30_000,
  }),
  getEvents: operation({
    name: 'get-events',
    service: 'gateway',
    http: { method: 'GET', path: '/events' },
    summary: 'Follow a queue by long-polling.',
    params: {
      queue_id: text(
        string(200)
          .describe('The ID of the queue. Without it and with `dont_block`, a queue is registered.')
          .optional(),
      ),
      last_event_id: json(bigId.min(-1).optional()),
      dont_block: json(bool.default(false)),
      ...queueParams,
      ...recordOf(capabilityNames, () => json(bool.optional())),
    },
    result: z.object({
      events: z.array(
        z.looseObject({
          id: int.describe('The ID of the event; it grows within a queue.'),
          type: z.string().describe('The type of the event, as described in `/asyncapi.json`.'),
        }),
      ),
      queue_id: z.string(),
    }),
    errors: ['BAD_EVENT_QUEUE_ID', 'BAD_REQUEST'],
  }),
  deleteQueue: operation({
    name: 'delete-queue',
    service: 'event-queue',
    http: { method: 'DELETE', path: '/events' },
    summary: 'Delete an event queue.',
    params: { queue_id: queueId },
    errors: ['BAD_EVENT_QUEUE_ID'],
  }),
  getQueue: operation({
    name: 'get-queue',
    service: 'event-queue',
    caller: 'internal',
    callers: ['gateway'],
    summary: 'A living queue by its ID, also when Redis forgot it. Bus only.',
    params: { queue_id: queueId },
    result: queueRecordSchema,
    errors: ['BAD_EVENT_QUEUE_ID'],
    isReadOnly: true,
  }),
  touchQueues: operation({
    name: 'touch-queues',
    service: 'event-queue',
    caller: 'internal',
    callers: ['gateway'],
    summary: 'Extend the life of queues that are being polled. Bus only.',
    params: { queue_ids: json(list(string(200), 10_000)) },
    result: z.object({ gone: z.array(z.string()) }),
    isReadOnly: true,
    deadlineMs: 5_000,
  }),
  confirmService: operation({
    name: 'confirm-service',
    service: 'event-queue',
    caller: 'internal',
    callers: ['gateway'],
    summary: 'A gateway confirms that clients can poll; without it, no queue expires. Bus only.',
    isReadOnly: true,
    deadlineMs: 30_000,
  }),
  readLog: operation({
    name: 'read-log',
    service: 'event-queue',
    caller: 'internal',
    callers: ['gateway'],
    summary: 'Entries of the log that Redis does not hold, from Postgres. Bus only.',
    params: {
      after: json(bigId),
      limit: json(integer(0, 1_000)),
      /** The mark of the entry `after`, if the caller has it. */
      mark: json(integer(0, 2 ** 31).optional()),
    },
    /** `mark`: of the last entry; absent in answers of the previous release. */
    result: z.object({
      clock: int,
      mark: int.optional(),
      epoch: int,
      floor: int,
      entries: z.array(z.any()),
    }),
    isReadOnly: true,
    deadlineMs: 10_000,
  }),
  snapshotUsers: snapshotPart('users'),
  snapshotChannels: snapshotPart('channels'),
  snapshotMessaging: snapshotPart('messaging'),
  snapshotPresence: snapshotPart('presence'),
};
