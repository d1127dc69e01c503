import { z } from 'zod';
import { operation } from '../../operation.ts';
import { bool, ids, json, text, textOrJson } from '../../param.ts';
import { creationParams } from './parameters.ts';

const principals = z.union([z.array(z.int()), z.array(z.string())]);
const namesByUser = z.record(z.string(), z.array(z.string()));
const wantedChannel = z.looseObject({
  name: z.string(),
  description: z.string().optional(),
  color: z.string().optional(),
});
const subscribed = { subscribed: namesByUser, already_subscribed: namesByUser };
const removed = { removed: z.array(z.string()), not_removed: z.array(z.string()) };
const subscription = z.looseObject({ stream_id: z.int(), name: z.string() });

export const subscribersChoice = z.enum(['true', 'false', 'partial']).default('false');
/** As clients write it: a word, a boolean, or the word as JSON. */
export const includeSubscribers = textOrJson(
  z.preprocess((given) => (typeof given === 'boolean' ? String(given) : given), subscribersChoice),
);

export const subscriptionOperations = {
  subscribe: operation({
    name: 'subscribe',
    service: 'channels',
    http: { method: 'POST', path: '/users/me/subscriptions' },
    summary: 'Subscribe users to channels, creating those that do not exist (specification 4.3).',
    cost: 5,
    params: {
      subscriptions: json(z.array(wantedChannel)),
      principals: json(principals.optional()),
      authorization_errors_fatal: json(bool.default(true)),
      ...creationParams,
    },
    result: z.object({
      ...subscribed,
      unauthorized: z.array(z.string()).optional(),
      new_subscription_messages_sent: z.boolean().optional(),
    }),
    errors: ['BAD_REQUEST'],
    events: ['stream', 'subscription', 'default_streams'],
  }),
  createChannel: operation({
    name: 'create-channel',
    service: 'channels',
    http: { method: 'POST', path: '/channels/create' },
    summary: 'Create a channel (specification 4.5).',
    cost: 5,
    params: {
      name: text(z.string()),
      description: text(z.string().default('')),
      subscribers: json(ids),
      ...creationParams,
    },
    result: z.object({ id: z.int(), new_subscription_messages_sent: z.boolean().optional() }),
    errors: ['CHANNEL_ALREADY_EXISTS', 'BAD_REQUEST'],
    events: ['stream', 'subscription', 'default_streams'],
  }),
  unsubscribe: operation({
    name: 'unsubscribe',
    service: 'channels',
    http: { method: 'DELETE', path: '/users/me/subscriptions' },
    summary: 'Unsubscribe oneself or others from channels.',
    cost: 5,
    params: { subscriptions: json(z.array(z.string())), principals: json(principals.optional()) },
    result: z.object(removed),
    errors: ['STREAM_DOES_NOT_EXIST', 'BAD_REQUEST'],
    events: ['subscription', 'stream'],
  }),
  changeSubscriptions: operation({
    name: 'change-subscriptions',
    service: 'channels',
    http: { method: 'PATCH', path: '/users/me/subscriptions' },
    summary: 'Subscribe and unsubscribe oneself in one request.',
    cost: 5,
    params: { add: json(z.array(wantedChannel).default([])), delete: json(z.array(z.string()).default([])) },
    result: z.object({ ...subscribed, ...removed }),
    errors: ['STREAM_DOES_NOT_EXIST', 'BAD_REQUEST'],
    events: ['subscription', 'stream'],
  }),
  getSubscriptions: operation({
    name: 'get-subscriptions',
    service: 'channels',
    http: { method: 'GET', path: '/users/me/subscriptions' },
    summary: 'The channels the caller is subscribed to.',
    params: { include_subscribers: includeSubscribers },
    result: z.object({ subscriptions: z.array(subscription) }),
  }),
  updateSubscriptions: operation({
    name: 'update-subscriptions',
    service: 'channels',
    http: { method: 'POST', path: '/users/me/subscriptions/properties' },
    summary: "Change the caller's own settings of channels.",
    cost: 2,
    params: {
      subscription_data: json(
        z.array(z.looseObject({ stream_id: z.int(), property: z.string(), value: z.union([bool, z.string()]) })),
      ),
    },
    errors: ['BAD_REQUEST'],
    events: ['subscription'],
  }),
  updateSubscription: operation({
    name: 'update-subscription',
    service: 'channels',
    http: { method: 'PATCH', path: '/users/me/subscriptions/{stream_id}' },
    summary: "Change one of the caller's own settings of a channel.",
    params: {
      stream_id: json(z.int()),
      property: text(z.string()),
      value: textOrJson(z.union([bool, z.string()])),
    },
    errors: ['BAD_REQUEST'],
    events: ['subscription'],
  }),
  getSubscriptionStatus: operation({
    name: 'get-subscription-status',
    service: 'channels',
    http: { method: 'GET', path: '/users/{user_id}/subscriptions/{stream_id}' },
    summary: 'Whether a user is subscribed to a channel.',
    params: { user_id: json(z.int()), stream_id: json(z.int()) },
    result: z.object({ is_subscribed: z.boolean() }),
    errors: ['BAD_REQUEST'],
  }),
  getUserChannels: operation({
    name: 'get-user-channels',
    service: 'channels',
    http: { method: 'GET', path: '/users/{user_id}/channels' },
    summary: 'The channels a user is subscribed to, as far as the caller may know them.',
    params: { user_id: json(z.int()) },
    result: z.object({ subscribed_channel_ids: z.array(z.int()) }),
    errors: ['BAD_REQUEST'],
  }),
  getSubscribers: operation({
    name: 'get-subscribers',
    service: 'channels',
    http: { method: 'GET', path: '/streams/{stream_id}/members' },
    summary: 'The subscribers of a channel.',
    params: { stream_id: json(z.int()) },
    result: z.object({ subscribers: ids }),
    errors: ['BAD_REQUEST'],
  }),
};
