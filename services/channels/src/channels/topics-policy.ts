import { badRequest, channelTopicOperations, emptyTopicDisplayName, insufficientPermission } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { WriteContext } from '@natter/service-kit';
import { type Decision, maySetPolicy, refuseEarly, type Service } from '../model/deciding.ts';
import { knownChannel, requireAdministered } from '../model/known-channel.ts';

/** Whether messages of a channel are in topics with names, as of a number of the log. */
export interface NamedTopics {
  has_named_topics: boolean;
  through?: number | undefined;
}

/**
 * Asks the messaging service whether messages of the channel have named topics. Called before the unit of work, because
 * units make no bus calls, and only for actors who may make the change, because the query may read all messages of the
 * channel.
 */
export async function namedTopics(service: Service, context: WriteContext, channelId: number): Promise<NamedTopics> {
  const { actor, meta } = context;
  await refuseEarly(service, context, async (database, policy) => {
    const channel = await knownChannel(database, actor, channelId);
    requireAdministered(channel, actor, channel.is_subscribed);
    if (channel.topics_policy !== 'empty_topic_only') requireTopicsPolicyRight({ policy, actor });
  });
  return service.bus.call(channelTopicOperations.hasNamedTopics, { channel_id: channelId }, { meta });
}

/**
 * Refuses the change if there are such topics. If a message arrives in one before the commit, the change is decided again:
 * later messages expect the version of the channel, which the change bumps.
 */
export function requireOnlyEmptyTopic(work: Work, channelId: number, { has_named_topics, through }: NamedTopics): void {
  if (has_named_topics) throw notOnlyEmptyTopic();
  if (through !== undefined)
    work.numbered(sql.unsafe`SELECT channels.expect_no_named_topic(${work.realmId}, ${channelId}, ${through})`);
}

export function requireTopicsPolicyRight(asked: Pick<Decision, 'policy' | 'actor'>): void {
  if (!maySetPolicy(asked, 'can_set_topics_policy_group')) throw insufficientPermission();
}

const notOnlyEmptyTopic = (): Error =>
  badRequest(
    `To enable this configuration, all messages in this channel must be in the ${emptyTopicDisplayName} topic. Consider renaming or deleting other topics.`,
  );
