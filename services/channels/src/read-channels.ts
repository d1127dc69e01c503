import { badRequest, channelOperations, eventQueueOperations } from '@natter/contracts';
import { type Executor, inSnapshot, sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { toChannel, toSubscription } from './channel-object.ts';
import { channelColumns, channelRow } from './channel-row.ts';
import { mayKnow, personRow } from './people.ts';

export function readHandlers({ database }: Owner): Handlers {
  return [
    handle(channelOperations.getSubscriptions, async ({ actor }, { include_subscribers }) => {
      const { subscriptions } = await readChannels(
        database,
        actor.realmId,
        actor.userId,
        actor.role,
        include_subscribers !== 'false',
      );
      return { subscriptions };
    }),

    handle(channelOperations.getStreamId, async ({ actor }, { stream }) => {
      const { streams, subscriptions } = await readChannels(database, actor.realmId, actor.userId, actor.role, false);
      const found = [...subscriptions, ...streams].find(
        (channel) => String(channel.name).toLowerCase() === stream.toLowerCase(),
      );
      if (!found) throw badRequest(`Invalid channel name '${stream}'`);
      return { stream_id: Number(found.stream_id) };
    }),

    handle(
      eventQueueOperations.snapshotChannels,
      async ({ meta }, { snapshot, user_id, types, include_subscribers }) => {
        const wants = (type: string): boolean => types === null || types.includes(type);
        if (!wants('subscription') && !wants('stream')) return {};
        return inSnapshot(database, snapshot, async (executor) => {
          // The role as this service's own tables have it at this point in time, whatever the request's actor says.
          const person = await executor.maybeOne(sql.type(personRow)`
          SELECT user_id, email, role, is_active FROM channels.person WHERE realm_id = ${meta.realmId} AND user_id = ${user_id}`);
          const role = person?.role;
          const { streams, ...kinds } = await readChannels(
            executor,
            meta.realmId,
            user_id,
            role,
            include_subscribers !== 'false',
          );
          return { ...(wants('subscription') ? kinds : {}), ...(wants('stream') ? { streams } : {}) };
        });
      },
    ),
  ];
}

const ownRow = channelRow.extend({
  is_active: z.boolean().nullable(),
  color: z.string().nullable(),
  is_muted: z.boolean().nullable(),
  pin_to_top: z.boolean().nullable(),
  subscribers: z.array(z.number()),
});

interface Channels {
  subscriptions: Record<string, unknown>[];
  unsubscribed: Record<string, unknown>[];
  never_subscribed: Record<string, unknown>[];
  streams: Record<string, unknown>[];
}

/** All channels a user may know, by how they stand to them. A person this service has not heard of knows only what they subscribe to. */
async function readChannels(
  executor: Executor,
  realmId: number,
  userId: number,
  role: number | undefined,
  withSubscribers: boolean,
): Promise<Channels> {
  const subscribers = withSubscribers
    ? sql.fragment`ARRAY(SELECT o.user_id FROM channels.subscription o WHERE o.channel_id = c.id AND o.is_active ORDER BY o.user_id)`
    : sql.fragment`'{}'::int[]`;
  const rows = await executor.any(sql.type(ownRow)`
    SELECT ${channelColumns}, s.is_active, s.color, s.is_muted, s.pin_to_top, ${subscribers} AS subscribers
    FROM channels.channel c LEFT JOIN channels.subscription s ON s.channel_id = c.id AND s.user_id = ${userId}
    WHERE c.realm_id = ${realmId} AND NOT c.is_archived ORDER BY c.id`);
  const kinds: Channels = { subscriptions: [], unsubscribed: [], never_subscribed: [], streams: [] };
  for (const row of rows) {
    const isSubscribed = row.is_active === true;
    const known =
      role === undefined
        ? isSubscribed
        : mayKnow({ user_id: userId, email: '', role, is_active: true }, row.is_private, isSubscribed);
    if (!known) continue;
    kinds.streams.push(toChannel(row));
    const list = withSubscribers ? row.subscribers : undefined;
    if (row.color === null) kinds.never_subscribed.push({ ...toChannel(row), ...(list ? { subscribers: list } : {}) });
    else {
      const subscription = toSubscription(
        row,
        { color: row.color, is_muted: row.is_muted ?? false, pin_to_top: row.pin_to_top ?? false },
        list,
      );
      (isSubscribed ? kinds.subscriptions : kinds.unsubscribed).push(subscription);
    }
  }
  return kinds;
}
