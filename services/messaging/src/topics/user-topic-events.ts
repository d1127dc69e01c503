import { emptyTopicDisplayName, idSet, type LogEvent } from '@natter/contracts';

/** A preference changed; clients that know no preferences hear of mutes alone, through a register of theirs. */
export function userTopicEvents(
  userId: number,
  channelId: number,
  topic: string,
  policy: number,
  updatedSeconds: number,
): LogEvent[] {
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
