import { badRequest, channelTopicOperations, emptyTopicDisplayName, insufficientPermission } from '@natter/contracts';
import type { WriteContext } from '@natter/service-kit';
import { type Decision, maySetPolicy, refuseEarly, type Service } from '../model/deciding.ts';
import { knownChannel, requireAdministered } from '../model/known-channel.ts';

/**
 * Messaging knows the topics of messages. Queried before the change is decided, because units make no bus calls, and
 * only for actors who may make the change, because the query may read all messages of the channel.
 */
export async function hasNamedTopics(service: Service, context: WriteContext, channelId: number): Promise<boolean> {
  const { actor, meta } = context;
  await refuseEarly(service, context, async (database, policy) => {
    const channel = await knownChannel(database, actor, channelId);
    requireAdministered(channel, actor, channel.is_subscribed);
    if (channel.topics_policy !== 'empty_topic_only') requireTopicsPolicyRight({ policy, actor });
  });
  const { has_named_topics } = await service.bus.call(
    channelTopicOperations.hasNamedTopics,
    { channel_id: channelId },
    { meta },
  );
  return has_named_topics;
}

export function requireTopicsPolicyRight(asked: Pick<Decision, 'policy' | 'actor'>): void {
  if (!maySetPolicy(asked, 'can_set_topics_policy_group')) throw insufficientPermission();
}

export const notOnlyEmptyTopic = (): Error =>
  badRequest(
    `To enable this configuration, all messages in this channel must be in the ${emptyTopicDisplayName} topic. Consider renaming or deleting other topics.`,
  );
