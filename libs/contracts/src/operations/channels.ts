import { z } from 'zod';
import { limits } from '../limits.ts';
import { operation } from '../operation.ts';
import { bool, json, text, textOrJson } from '../param.ts';
import { channelPermissionsSchema } from '../permission-settings.ts';

const principals = z.union([z.array(z.int()), z.array(z.string())]);
const namesByUser = z.record(z.string(), z.array(z.string()));

export const subscribersChoice = z.enum(['true', 'false', 'partial']).default('false');

/** The fetch types of a register that this service answers. */
export const channelsFetchTypes: readonly string[] = ['subscription', 'stream'];

export const topicsPolicies = ['inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only'] as const;

/**
 * What others decide by of a channel; whoever does commits on `channel:<channel_id>@<version>`. The permissions are read with
 * `@natter/permissions` (`hasContentAccess`, `hasMetadataAccess`, `mayAdminister`, `isPermitted`).
 */
export const postingRulesSchema = z.object({
  channel_id: z.int(),
  version: z.int(),
  name: z.string(),
  is_private: z.boolean(),
  is_web_public: z.boolean(),
  is_archived: z.boolean(),
  /** Whether subscribers see what was sent before they came; always so unless the channel is private. */
  history_public: z.boolean(),
  topics_policy: z.enum(topicsPolicies),
  /** null inherits from the realm, -1 keeps for ever. */
  message_retention_days: z.int().nullable(),
  creator_id: z.int().nullable(),
  permissions: channelPermissionsSchema,
  /** Active users only. */
  subscribers: z.union([z.object({ ids: z.array(z.int()) }), z.object({ offset: z.int(), bits: z.string() })]),
});
export type PostingRules = z.infer<typeof postingRulesSchema>;

export const channelOperations = {
  subscribe: operation({
    name: 'subscribe',
    service: 'channels',
    http: { method: 'POST', path: '/users/me/subscriptions' },
    summary: 'Subscribe users to channels, creating those that do not exist (specification 4.3).',
    params: {
      subscriptions: json(
        z.array(
          z.looseObject({
            name: z.string(),
            description: z.string().max(limits.channelDescriptionLength).optional(),
            color: z.string().optional(),
          }),
        ),
      ),
      principals: json(principals.optional()),
      authorization_errors_fatal: json(bool.default(true)),
      announce: json(bool.default(false)),
      invite_only: json(bool.default(false)),
      history_public_to_subscribers: json(bool.optional()),
    },
    result: z.object({
      subscribed: namesByUser,
      already_subscribed: namesByUser,
      unauthorized: z.array(z.string()).optional(),
    }),
    errors: ['BAD_REQUEST'],
    events: ['stream', 'subscription'],
  }),
  unsubscribe: operation({
    name: 'unsubscribe',
    service: 'channels',
    http: { method: 'DELETE', path: '/users/me/subscriptions' },
    summary: 'Unsubscribe oneself or others from channels.',
    params: { subscriptions: json(z.array(z.string())), principals: json(principals.optional()) },
    result: z.object({ removed: z.array(z.string()), not_removed: z.array(z.string()) }),
    errors: ['STREAM_DOES_NOT_EXIST', 'BAD_REQUEST'],
    events: ['subscription', 'stream'],
  }),
  getSubscriptions: operation({
    name: 'get-subscriptions',
    service: 'channels',
    http: { method: 'GET', path: '/users/me/subscriptions' },
    summary: 'The channels the caller is subscribed to.',
    params: { include_subscribers: text(subscribersChoice) },
    result: z.object({ subscriptions: z.array(z.looseObject({})) }),
  }),
  getStreamId: operation({
    name: 'get-stream-id',
    service: 'channels',
    http: { method: 'GET', path: '/get_stream_id' },
    summary: "A channel's ID by its name.",
    params: { stream: text(z.string()) },
    result: z.object({ stream_id: z.int() }),
    errors: ['BAD_REQUEST'],
  }),
  getPostingRules: operation({
    name: 'get-posting-rules',
    service: 'channels',
    caller: 'anyone',
    summary: 'What messaging caches of a channel, with its version. Bus only.',
    params: { channel: textOrJson(z.union([z.int(), z.string()])) },
    result: postingRulesSchema,
    errors: ['STREAM_DOES_NOT_EXIST'],
    isReadOnly: true,
    deadlineMs: 5_000,
  }),
};
