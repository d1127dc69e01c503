import { z } from 'zod';
import { id, string, union } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { json, text } from '../model/param.ts';

/**
 * Lower than the weight of `repeatingEvents`: the list in the event has at most 32 KiB of names, and users often mute
 * several topics in a row.
 */
const muteWeight = 3;

export const topicOperations = {
  updateUserTopic: operation({
    name: 'update-user-topic',
    service: 'messaging',
    http: { method: 'POST', path: '/user_topics' },
    summary: "Set one's preference for a topic: inherit, muted, unmuted, followed.",
    weight: muteWeight,
    params: {
      stream_id: json(id),
      topic: text(string(1_000)),
      visibility_policy: json(union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)])),
    },
    errors: ['BAD_REQUEST'],
    events: ['user_topic', 'muted_topics'],
  }),
  updateMutedTopic: operation({
    name: 'update-muted-topic',
    service: 'messaging',
    http: { method: 'PATCH', path: '/users/me/subscriptions/muted_topics' },
    summary: 'Mute or unmute a topic (deprecated).',
    weight: muteWeight,
    params: {
      stream: text(string(1_000).describe('The name of the channel, instead of its ID.').optional()),
      stream_id: json(id.optional()),
      topic: text(string(1_000)),
      op: text(z.enum(['add', 'remove']).describe('`add` mutes the topic, `remove` unmutes it.')),
    },
    errors: ['BAD_REQUEST'],
    events: ['user_topic', 'muted_topics'],
  }),
};
