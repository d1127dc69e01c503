import { type Audience, type BodyOf, emptyTopicDisplayName, type LogEvent } from '@natter/contracts';

/**
 * The events of a deletion: one for each message, for clients that support no lists; other clients receive only the
 * first, with all ids.
 */
export function deletionEvents(
  where: { channelId: number; topic: string } | undefined,
  messageIds: readonly number[],
  audience: Audience,
): LogEvent[] {
  const body: BodyOf<'delete_message'> = where
    ? { message_type: 'stream', stream_id: where.channelId, topic: where.topic }
    : { message_type: 'private' };
  return messageIds.map((id, index) => ({
    type: 'delete_message',
    body,
    audience,
    forms: [
      { capability: 'bulk_message_deletion', is: true, patch: index === 0 ? { message_ids: messageIds } : null },
      { capability: 'bulk_message_deletion', is: false, patch: { message_id: id } },
      ...(where?.topic === ''
        ? [{ capability: 'empty_topic_name', is: false, patch: { topic: emptyTopicDisplayName } }]
        : []),
    ],
  }));
}
