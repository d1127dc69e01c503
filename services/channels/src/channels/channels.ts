import { type Actor, badRequest, channelOperations, isAdministrator, isGuest, type ParamsOf } from '@natter/contracts';
import type { Executor } from '@natter/database';
import { hasContentAccess } from '@natter/permissions';
import { type Handlers, handle } from '@natter/service-kit';
import { contextOf, toChannel } from '../model/channel-object.ts';
import { reading, type Service } from '../model/deciding.ts';
import { knownChannel } from '../model/known-channel.ts';
import { channelNamed, type Visible, visibleChannels } from '../model/visible-channels.ts';

type Filters = ParamsOf<typeof channelOperations.getChannels>;

export function readHandlers(service: Service): Handlers {
  const { directories } = service;
  return [
    handle(channelOperations.getChannels, (context, filters) =>
      reading(service, context, async (database) => {
        const { actor } = context;
        if (filters.include_all_active && !isAdministrator(actor))
          throw badRequest('User not authorized for this query');
        const visible = await visibleChannels(database, actor, {
          holder: actor,
          withArchived: !filters.exclude_archived && !filters.include_all_active,
        });
        const wanted = visible.filter((one) => isWanted(one, filters, actor));
        const ofOwner = filters.include_owner_subscribed ? await ownersChannels(service, database, actor) : [];
        const shown = contextOf(await directories.read(database, actor.realmId));
        const streams = [...new Map([...wanted, ...ofOwner].map((one) => [one.channel.id, one])).values()]
          .sort((a, b) => (a.channel.name.toLowerCase() < b.channel.name.toLowerCase() ? -1 : 1))
          .map(({ channel }) => ({
            ...toChannel(channel, shown),
            ...(filters.include_default ? { is_default: channel.is_default } : {}),
          }));
        return { streams };
      }),
    ),

    handle(channelOperations.getChannel, (context, { stream_id }) =>
      reading(service, context, async (database) => {
        const channel = await knownChannel(database, context.actor, stream_id);
        const shown = contextOf(await directories.read(database, context.actor.realmId));
        return { stream: toChannel(channel, shown) };
      }),
    ),

    handle(channelOperations.getStreamId, (context, { stream }) =>
      reading(service, context, async (database) => {
        const { actor } = context;
        const visible = await visibleChannels(database, actor, { holder: actor, withArchived: false });
        return { stream_id: channelNamed(visible, stream).id };
      }),
    ),
  ];
}

function isWanted({ channel, isSubscribed }: Visible, filters: Filters, actor: Actor): boolean {
  if (filters.include_all || filters.include_all_active) return true;
  if (filters.include_subscribed && isSubscribed) return true;
  if (filters.include_web_public && channel.is_web_public) return true;
  // Guests see unsubscribed channels only if they are web-public, which has its own filter.
  if (filters.include_public && !channel.is_private && !isGuest(actor)) return true;
  return filters.include_can_access_content && hasContentAccess(channel, actor, isSubscribed);
}

/** Includes private channels that the owner of a bot is subscribed to, because the bot may post there. */
async function ownersChannels({ directories }: Service, executor: Executor, actor: Actor): Promise<Visible[]> {
  const directory = await directories.read(executor, actor.realmId);
  const owner = actor.botOwnerId ?? directory.people.get(actor.userId)?.botOwnerId;
  if (owner == null) return [];
  const visible = await visibleChannels(
    executor,
    { realmId: actor.realmId, userId: owner },
    { holder: directory.holder(owner), withArchived: false },
  );
  return visible.filter(({ isSubscribed }) => isSubscribed);
}
