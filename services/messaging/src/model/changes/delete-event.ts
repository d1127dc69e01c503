import { type Audience, type BodyOf, emptyTopicDisplayName, type LogEvent } from '@natter/contracts';

/** Deletions at once of which clients without support for lists are told one by one. */
const mostOneByOne = 1_000;

/**
 * The events of a deletion: one for each message, for clients that support no lists; other clients receive only the
 * first, with all ids. Of more messages than `mostOneByOne` there is one event, and the queues of clients that support no
 * lists end, so that they read the state again: an event of each message would cost the whole organization.
 */
export function deletionEvents(
  where: { channelId: number; topic: string } | undefined,
  messageIds: readonly number[],
  audience: Audience,
): LogEvent[] {
  const body: BodyOf<'delete_message'> = where
    ? { message_type: 'stream', stream_id: where.channelId, topic: where.topic }
    : { message_type: 'private' };
  const isMany = messageIds.length > mostOneByOne;
  return messageIds.slice(0, isMany ? 1 : undefined).map((id, index) => ({
    type: 'delete_message',
    body,
    audience,
    ...(isMany ? { note: { ends_other_queues: true as const } } : {}),
    forms: [
      { capability: 'bulk_message_deletion', is: true, patch: index === 0 ? { message_ids: messageIds } : null },
      { capability: 'bulk_message_deletion', is: false, patch: isMany ? null : { message_id: id } },
      ...(where?.topic === ''
        ? [{ capability: 'empty_topic_name', is: false, patch: { topic: emptyTopicDisplayName } }]
        : []),
    ],
  }));
}
