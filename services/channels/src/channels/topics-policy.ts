import { badRequest, channelTopicOperations, emptyTopicDisplayName, type RequestMeta } from '@natter/contracts';
import type { Service } from '../model/deciding.ts';

/**
 * Messaging knows the topics of messages. Queried before the change is decided, and disclosed only to actors who may
 * make the change.
 */
export async function hasNamedTopics({ bus }: Service, meta: RequestMeta, channelId: number): Promise<boolean> {
  const { has_named_topics } = await bus.call(
    channelTopicOperations.hasNamedTopics,
    { channel_id: channelId },
    { meta },
  );
  return has_named_topics;
}

export const notOnlyEmptyTopic = (): Error =>
  badRequest(
    `To enable this configuration, all messages in this channel must be in the ${emptyTopicDisplayName} topic. Consider renaming or deleting other topics.`,
  );
