import { emptyTopicDisplayName, idSet, type LogEvent } from '@natter/contracts';

/** A user's preference for a topic; `policy` is one of `visibility`. */
export interface TopicPreference {
  userId: number;
  channelId: number;
  topic: string;
  policy: number;
  updatedSeconds: number;
}

/**
 * The events of a changed preference. Clients without support for preferences receive only mutes, if they registered
 * for them.
 */
export function userTopicEvents({ userId, channelId, topic, policy, updatedSeconds }: TopicPreference): LogEvent[] {
  return [
    {
      type: 'user_topic',
      body: {
        stream_id: channelId,
        topic_name: topic,
        last_updated: updatedSeconds,
        visibility_policy: policy,
      },
      audience: { users: idSet([userId]) },
      ...(topic === ''
        ? { forms: [{ capability: 'empty_topic_name', is: false, patch: { topic_name: emptyTopicDisplayName } }] }
        : {}),
    },
  ];
}
