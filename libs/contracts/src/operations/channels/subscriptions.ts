import { z } from 'zod';
import { id, list, object, string, union } from '../../model/bounded.ts';
import { operation } from '../../model/operation.ts';
import { bool, idList, ids, json, text, textOrJson } from '../../model/param.ts';
import { creationParams, withoutAddedDefault } from './parameters.ts';

const principals = union([idList(20_000), list(string(300), 20_000)]);
const namesByUser = z.record(z.string(), z.array(z.string()));
const wantedChannels = list(
  object({
    name: string(300).describe('The name of the channel, at most `max_stream_name_length` characters.'),
    description: string(5_000).describe('The description of the channel if it is new, in Markdown.').optional(),
    color: string(50).optional(),
  }),
  1_000,
);
const ownProperty =
  'The name of the setting: `color`, `is_muted`, `pin_to_top`, `in_home_view`, `desktop_notifications`, `audible_notifications`, `push_notifications`, `email_notifications` or `wildcard_mentions_notify`.';
const channelNames = list(string(300), 10_000);
const subscribed = {
  subscribed: namesByUser,
  already_subscribed: namesByUser,
  new_subscription_messages_sent: z.boolean().optional(),
};
const removed = { removed: z.array(z.string()), not_removed: z.array(z.string()) };
const subscription = z.looseObject({ stream_id: z.int(), name: z.string().describe('The name of the channel.') });

export const subscribersChoice = z.enum(['true', 'false', 'partial']).default('false');
/** Clients send a word, a boolean, or the word as JSON. */
export const includeSubscribers = textOrJson(
  union([subscribersChoice, bool.transform((given): 'true' | 'false' => (given ? 'true' : 'false'))]),
);

/** The number of subscriptions that have the weight of one request; one statement writes their rows. */
const subscriptionsPerUnit = 500;
const subscriptionWeight = (channels: number, users: number | undefined): number =>
  (channels * Math.max(users ?? 1, 1)) / subscriptionsPerUnit;
/** The number of named channels that have the weight of one request: each may be new, and then has events and a notice. */
const newChannelsPerUnit = 10;

export const subscriptionOperations = {
  subscribe: operation({
    name: 'subscribe',
    service: 'channels',
    http: { method: 'POST', path: '/users/me/subscriptions' },
    role: 'member',
    summary: 'Subscribe users to channels, creating those that do not exist.',
    weight: 5,
    weigh: ({ subscriptions, principals }) =>
      subscriptionWeight(subscriptions.length, principals?.length) + subscriptions.length / newChannelsPerUnit,
    params: {
      subscriptions: json(
        wantedChannels.describe('The channels to subscribe to. Those that do not exist are created.'),
      ),
      principals: json(principals.optional()),
      authorization_errors_fatal: json(bool.default(true)),
      ...creationParams,
    },
    formerParams: withoutAddedDefault,
    result: z.object({
      ...subscribed,
      unauthorized: z.array(z.string()).optional(),
    }),
    errors: ['BAD_REQUEST'],
    events: ['stream', 'subscription', 'default_streams'],
  }),
  createChannel: operation({
    name: 'create-channel',
    service: 'channels',
    http: { method: 'POST', path: '/channels/create' },
    role: 'member',
    summary: 'Create a channel.',
    weight: 5,
    weigh: ({ subscribers }) => subscriptionWeight(1, subscribers.length),
    params: {
      name: text(string(1_000).describe('The name of the channel, at most `max_stream_name_length` characters.')),
      description: text(string(5_000).default('')),
      subscribers: json(idList(20_000).describe('The IDs of the users to subscribe.')),
      ...creationParams,
    },
    formerParams: withoutAddedDefault,
    result: z.object({ id: z.int().describe('The ID of the new channel.') }),
    errors: ['CHANNEL_ALREADY_EXISTS', 'BAD_REQUEST'],
    events: ['stream', 'subscription', 'default_streams'],
  }),
  unsubscribe: operation({
    name: 'unsubscribe',
    service: 'channels',
    http: { method: 'DELETE', path: '/users/me/subscriptions' },
    summary: 'Unsubscribe oneself or others from channels.',
    weight: 5,
    weigh: ({ subscriptions, principals }) => subscriptionWeight(subscriptions.length, principals?.length),
    params: {
      subscriptions: json(channelNames.describe('The names of the channels to unsubscribe from.')),
      principals: json(principals.optional()),
    },
    result: z.object(removed),
    errors: ['STREAM_DOES_NOT_EXIST', 'BAD_REQUEST'],
    events: ['subscription', 'stream'],
  }),
  changeSubscriptions: operation({
    name: 'change-subscriptions',
    service: 'channels',
    http: { method: 'PATCH', path: '/users/me/subscriptions' },
    summary: 'Subscribe and unsubscribe oneself in one request.',
    weight: 5,
    weigh: ({ add, delete: removed }) =>
      subscriptionWeight(add.length + removed.length, 1) + add.length / newChannelsPerUnit,
    params: {
      add: json(wantedChannels.default([]).describe('The channels to subscribe to.')),
      delete: json(channelNames.default([]).describe('The names of the channels to unsubscribe from.')),
    },
    result: z.object({ ...subscribed, ...removed }),
    errors: ['STREAM_DOES_NOT_EXIST', 'BAD_REQUEST'],
    events: ['subscription', 'stream'],
  }),
  getSubscriptions: operation({
    name: 'get-subscriptions',
    service: 'channels',
    http: { method: 'GET', path: '/users/me/subscriptions' },
    weight: 3,
    summary: 'The channels the caller is subscribed to.',
    params: { include_subscribers: includeSubscribers },
    result: z.object({ subscriptions: z.array(subscription) }),
  }),
  updateSubscriptions: operation({
    name: 'update-subscriptions',
    service: 'channels',
    http: { method: 'POST', path: '/users/me/subscriptions/properties' },
    summary: "Change the caller's own settings of channels.",
    weight: 2,
    // Each setting causes an event.
    weigh: ({ subscription_data }) => subscription_data.length / 50,
    params: {
      subscription_data: json(
        list(
          object({
            stream_id: id,
            property: string(100).describe(ownProperty),
            value: union([bool, string(100)]).describe('The new value of the setting.'),
          }),
          10_000,
        ),
      ),
    },
    errors: ['BAD_REQUEST'],
    events: ['subscription'],
  }),
  updateSubscription: operation({
    name: 'update-subscription',
    service: 'channels',
    http: { method: 'PATCH', path: '/users/me/subscriptions/{stream_id}' },
    weight: 2,
    summary: "Change one of the caller's own settings of a channel.",
    params: {
      stream_id: json(id),
      property: text(string(1_000).describe(ownProperty)),
      value: textOrJson(union([bool, string(1_000)]).describe('The new value of the setting.')),
    },
    errors: ['BAD_REQUEST'],
    events: ['subscription'],
  }),
  getSubscriptionStatus: operation({
    name: 'get-subscription-status',
    service: 'channels',
    http: { method: 'GET', path: '/users/{user_id}/subscriptions/{stream_id}' },
    summary: 'Whether a user is subscribed to a channel.',
    params: { user_id: json(id), stream_id: json(id) },
    result: z.object({ is_subscribed: z.boolean() }),
    errors: ['BAD_REQUEST'],
  }),
  getUserChannels: operation({
    name: 'get-user-channels',
    service: 'channels',
    http: { method: 'GET', path: '/users/{user_id}/channels' },
    summary: 'The channels a user is subscribed to, as far as the caller may know them.',
    params: { user_id: json(id) },
    result: z.object({ subscribed_channel_ids: z.array(z.int()) }),
    errors: ['BAD_REQUEST'],
  }),
  getSubscribers: operation({
    name: 'get-subscribers',
    service: 'channels',
    http: { method: 'GET', path: '/streams/{stream_id}/members' },
    weight: 2,
    summary: 'The subscribers of a channel.',
    params: { stream_id: json(id) },
    result: z.object({ subscribers: ids }),
    errors: ['BAD_REQUEST'],
  }),
};
