import { badRequest, channelOperations } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Handlers, handle, toJson, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { reading, type Service } from '../model/deciding.ts';
import { knownChannel } from '../model/known-channel.ts';
import { decideSeeing } from '../model/principals.ts';
import { subscriberLists } from '../model/subscriber-lists.ts';
import { subscriptionKinds } from '../model/subscription-kinds.ts';
import { visibleChannels } from '../model/visible-channels.ts';

export function subscriptionHandlers(service: Service): Handlers {
  const { directories } = service;
  return [
    handle(channelOperations.getSubscriptions, (context, { include_subscribers }) =>
      reading(service, context, async (database) => {
        const { actor } = context;
        const visible = await visibleChannels(database, actor, { holder: actor, withArchived: false });
        const directory = await directories.read(database, actor.realmId);
        const subscribed = visible.filter(({ isSubscribed }) => isSubscribed);
        const { subscriptions } = await subscriptionKinds(
          database,
          { realmId: actor.realmId, userId: actor.userId, directory },
          subscribed,
          { subscribers: include_subscribers, withNulls: true },
        );
        return toJson({ subscriptions });
      }),
    ),

    handle(channelOperations.getSubscribers, (context, { stream_id }) =>
      reading(service, context, async (database) => {
        const channel = await knownChannel(database, context.actor, stream_id);
        const lists = await subscriberLists(database, context.actor, [channel], 'true');
        return { subscribers: lists(channel.id).subscribers ?? [] };
      }),
    ),

    handle(channelOperations.getSubscriptionStatus, (context, { user_id, stream_id }) =>
      reading(service, context, async (database) => {
        await mustBeKnown(service, database, context, user_id);
        const channel = await knownChannel(database, context.actor, stream_id);
        const subscribed = await channelsOf(database, context.actor.realmId, user_id);
        return { is_subscribed: subscribed.has(channel.id) };
      }),
    ),

    handle(channelOperations.getUserChannels, (context, { user_id }) =>
      reading(service, context, async (database) => {
        const { actor } = context;
        await mustBeKnown(service, database, context, user_id);
        const subscribed = await channelsOf(database, actor.realmId, user_id);
        const visible = await visibleChannels(database, actor, { holder: actor, withArchived: false });
        const ids = visible.map(({ channel }) => channel.id);
        return { subscribed_channel_ids: ids.filter((id) => subscribed.has(id)) };
      }),
    ),
  ];
}

async function channelsOf(executor: Executor, realmId: number, userId: number): Promise<Set<number>> {
  const rows = await executor.any(sql.type(z.object({ channel_id: z.number() }))`
    SELECT channel_id FROM channels.subscription WHERE realm_id = ${realmId} AND user_id = ${userId} AND is_active`);
  return new Set(rows.map(({ channel_id }) => channel_id));
}

/** A user whom a guest may not see is answered like one who does not exist. */
async function mustBeKnown(service: Service, executor: Executor, context: UserContext, userId: number): Promise<void> {
  if (userId === context.actor.userId) return;
  const directory = await service.directories.read(executor, context.actor.realmId);
  await decideSeeing(service, context, async (hidden) => {
    if (!directory.people.has(userId) || hidden.has(userId)) throw badRequest('No such user');
  });
}
