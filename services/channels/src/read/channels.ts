import { type Actor, badRequest, channelOperations, isAdministrator, isGuest, type ParamsOf } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { hasContentAccess } from '@natter/permissions';
import { type Handlers, handle, toJson, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { knownChannel } from '../channel/known-channel.ts';
import { toChannel } from '../channel-object.ts';
import { reading, type Service } from '../deciding.ts';
import { systemGroupsOf } from '../directory/directory.ts';
import { subscriptionKinds } from './snapshot.ts';
import { subscriberLists } from './subscriber-lists.ts';
import { type Visible, visibleChannels } from './visible-channels.ts';

type Filters = ParamsOf<typeof channelOperations.getChannels>;

export function readHandlers(service: Service): Handlers {
  const { directories } = service;
  return [
    handle(channelOperations.getSubscriptions, (context, { include_subscribers }) =>
      reading(service, context, async (database) => {
        const { actor } = context;
        const visible = await visibleChannels(database, actor.realmId, actor.userId, actor, false);
        const directory = await directories.read(database, actor.realmId);
        const subscribed = visible.filter(({ isSubscribed }) => isSubscribed);
        const { subscriptions } = await subscriptionKinds(
          database,
          actor.realmId,
          actor.userId,
          directory,
          subscribed,
          include_subscribers,
          { withNulls: true },
        );
        return toJson({ subscriptions });
      }),
    ),

    handle(channelOperations.getChannels, (context, filters) =>
      reading(service, context, async (database) => {
        const { actor } = context;
        if ((filters.include_all || filters.include_all_active) && !isAdministrator(actor))
          throw badRequest('User not authorized for this query');
        const visible = await visibleChannels(
          database,
          actor.realmId,
          actor.userId,
          actor,
          !filters.exclude_archived && !filters.include_all_active,
        );
        const wanted = visible.filter((one) => isWanted(one, filters, actor));
        const ofOwner = filters.include_owner_subscribed ? await ownersChannels(service, database, actor) : [];
        const systemGroups = systemGroupsOf(await directories.read(database, actor.realmId));
        const streams = [...new Map([...wanted, ...ofOwner].map((one) => [one.channel.id, one])).values()]
          .sort((a, b) => (a.channel.name.toLowerCase() < b.channel.name.toLowerCase() ? -1 : 1))
          .map(({ channel }) => ({
            ...toChannel(channel, systemGroups),
            ...(filters.include_default ? { is_default: channel.is_default } : {}),
          }));
        return { streams: streams as { stream_id: number; name: string }[] };
      }),
    ),

    handle(channelOperations.getChannel, (context, { stream_id }) =>
      reading(service, context, async (database) => {
        const channel = await knownChannel(database, context.actor, stream_id);
        const systemGroups = systemGroupsOf(await directories.read(database, context.actor.realmId));
        return { stream: toChannel(channel, systemGroups) as { stream_id: number; name: string } };
      }),
    ),

    handle(channelOperations.getStreamId, (context, { stream }) =>
      reading(service, context, async (database) => {
        const { actor } = context;
        const visible = await visibleChannels(database, actor.realmId, actor.userId, actor, false);
        const found = visible.find(({ channel }) => channel.name.toLowerCase() === stream.trim().toLowerCase());
        if (!found) throw badRequest(`Invalid channel name '${stream}'`);
        return { stream_id: found.channel.id };
      }),
    ),

    handle(channelOperations.getSubscribers, (context, { stream_id }) =>
      reading(service, context, async (database) => {
        const channel = await knownChannel(database, context.actor, stream_id);
        const lists = await subscriberLists(database, context.actor.realmId, [channel], 'true', context.actor.userId);
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
        const visible = await visibleChannels(database, actor.realmId, actor.userId, actor, false);
        const ids = visible.map(({ channel }) => channel.id);
        return { subscribed_channel_ids: ids.filter((id) => subscribed.has(id)) };
      }),
    ),
  ];
}

function isWanted({ channel, isSubscribed }: Visible, filters: Filters, actor: Actor): boolean {
  if (filters.include_all || filters.include_all_active) return true;
  if (filters.include_subscribed && isSubscribed) return true;
  if (filters.include_web_public && channel.is_web_public) return true;
  // What guests know without subscribing is web-public, and asked for as that.
  if (filters.include_public && !channel.is_private && !isGuest(actor)) return true;
  return filters.include_can_access_content && hasContentAccess(channel, actor, isSubscribed);
}

/** Where the owner of a bot is subscribed, private channels too: the bot may post there. */
async function ownersChannels({ directories }: Service, executor: Executor, actor: Actor): Promise<Visible[]> {
  const directory = await directories.read(executor, actor.realmId);
  const owner = directory.people.get(actor.userId)?.botOwnerId;
  if (owner == null) return [];
  const visible = await visibleChannels(executor, actor.realmId, owner, directory.holder(owner), false);
  return visible.filter(({ isSubscribed }) => isSubscribed);
}

async function channelsOf(executor: Executor, realmId: number, userId: number): Promise<Set<number>> {
  const rows = await executor.any(sql.type(z.object({ channel_id: z.number() }))`
    SELECT channel_id FROM channels.subscription WHERE realm_id = ${realmId} AND user_id = ${userId} AND is_active`);
  return new Set(rows.map(({ channel_id }) => channel_id));
}

/** Whom a guest may not know of is answered like nobody. */
async function mustBeKnown(
  { directories, policies, sight }: Service,
  executor: Executor,
  { actor, meta }: UserContext,
  userId: number,
): Promise<void> {
  if (userId === actor.userId) return;
  const directory = await directories.read(executor, actor.realmId);
  const isHidden = async (): Promise<boolean> =>
    isGuest(actor) && (await sight.hiddenFrom(actor, meta, await policies.get(meta, true))).has(userId);
  if (!directory.people.has(userId) || (await isHidden())) throw badRequest('No such user');
}
