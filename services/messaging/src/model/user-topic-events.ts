import { emptyTopicDisplayName, idSet, type LogEvent } from '@natter/contracts';

/** A user's preference for a topic; `policy` is one of `visibility`. */
export interface TopicPreference extends ToldPreference {
  userId: number;
}

interface ToldPreference {
  channelId: number;
  topic: string;
  policy: number;
  updatedSeconds: number;
}

/** The event of a preference that users got. */
export function userTopicEvent(
  userIds: readonly number[],
  { channelId, topic, policy, updatedSeconds }: ToldPreference,
): LogEvent {
  return {
    type: 'user_topic',
    body: {
      stream_id: channelId,
      topic_name: topic,
      last_updated: updatedSeconds,
      visibility_policy: policy,
    },
    audience: { users: idSet(userIds) },
    ...(topic === ''
      ? { forms: [{ capability: 'empty_topic_name', is: false, patch: { topic_name: emptyTopicDisplayName } }] }
      : {}),
  };
}

/** The events of many preferences of one channel: users with the same preference, in the same spelling, share one. */
export function userTopicEvents(preferences: readonly TopicPreference[]): LogEvent[] {
  const groups = Map.groupBy(preferences, ({ topic, policy }) => `${policy} ${topic}`);
  return [...groups.values()].flatMap((group) => (group[0] ? [userTopicEvent(ascending(group), group[0])] : []));
}

const ascending = (preferences: readonly TopicPreference[]): number[] =>
  preferences.map(({ userId }) => userId).sort((a, b) => a - b);
