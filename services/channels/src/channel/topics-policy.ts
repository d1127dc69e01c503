import { badRequest, channelTopicOperations, emptyTopicDisplayName, type RequestMeta } from '@natter/contracts';
import type { Service } from '../deciding.ts';

/** Messaging knows what stands where. Asked before the change is decided, and told only to whoever may make it. */
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
