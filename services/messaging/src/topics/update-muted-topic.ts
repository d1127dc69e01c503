import { type Actor, badRequest, type ParamsOf, topicOperations } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { invalidChannelId } from '../model/channel-access.ts';
import { visibility } from '../model/user-topics.ts';
import { checkedTopic, setTopic } from './user-topics.ts';

export function updateMutedTopicHandlers({ database }: Owner): Handlers {
  return [
    handleWrite(topicOperations.updateMutedTopic, async (context, params) => {
      const { actor } = context;
      const topic = checkedTopic(params.topic);
      const channelId = await subscribedChannel(database, actor, params);
      const policy = params.op === 'add' ? visibility.muted : visibility.inherit;
      return context.write(async (work) => {
        await setTopic(work, actor.userId, { channelId, topic }, policy);
        return {};
      });
    }),
  ];
}

/** A channel to which the user is not subscribed is refused like one that does not exist. */
async function subscribedChannel(
  executor: Executor,
  { realmId, userId }: Actor,
  { stream, stream_id }: ParamsOf<typeof topicOperations.updateMutedTopic>,
): Promise<number> {
  if (stream_id !== undefined && stream !== undefined) throw badRequest("Please choose one: 'stream' or 'stream_id'.");
  if (stream_id === undefined && stream === undefined) throw badRequest("Please supply 'stream'.");
  const which =
    stream_id === undefined
      ? sql.fragment`lower(c.name) = lower(${stream?.trim() ?? ''}) AND NOT c.is_archived`
      : sql.fragment`c.channel_id = ${stream_id}`;
  const found = await executor.maybeOne(sql.type(z.object({ channel_id: z.number() }))`
    SELECT c.channel_id FROM messaging.channel c JOIN messaging.subscription_period p USING (realm_id, channel_id)
    WHERE c.realm_id = ${realmId} AND ${which} AND p.user_id = ${userId} AND p.to_id IS NULL`);
  if (!found) throw stream_id === undefined ? badRequest(`Invalid channel name '${stream}'`) : invalidChannelId();
  return found.channel_id;
}
