import { z } from 'zod';
import { operation } from '../operation.ts';
import { int, json, text } from '../param.ts';

export const topicOperations = {
  updateUserTopic: operation({
    name: 'update-user-topic',
    service: 'messaging',
    http: { method: 'POST', path: '/user_topics' },
    summary: "Set one's preference for a topic: inherit, muted, unmuted, followed (specification 4.7).",
    params: {
      stream_id: json(int),
      topic: text(z.string()),
      visibility_policy: json(z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)])),
    },
    errors: ['BAD_REQUEST'],
    events: ['user_topic', 'muted_topics'],
  }),
  updateMutedTopic: operation({
    name: 'update-muted-topic',
    service: 'messaging',
    http: { method: 'PATCH', path: '/users/me/subscriptions/muted_topics' },
    summary: 'Mute or unmute a topic (deprecated; specification 4.9).',
    params: {
      stream: text(z.string().optional()),
      stream_id: json(int.optional()),
      topic: text(z.string()),
      op: text(z.enum(['add', 'remove'])),
    },
    errors: ['BAD_REQUEST'],
    events: ['user_topic', 'muted_topics'],
  }),
};
