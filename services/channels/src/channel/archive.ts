import { badRequest, channelOperations } from '@natter/contracts';
import { sql, sqlState, type Work } from '@natter/database';
import { type Handlers, handle } from '@natter/service-kit';
import { z } from 'zod';
import { knowersOf, minus, to } from '../audience.ts';
import { channelsGone, onlyIfArchivedIsKnown, onlyIfArchivedIsUnknown, peersChanged } from '../channel-events.ts';
import { toChannel } from '../channel-object.ts';
import type { ChannelRow } from '../channel-row.ts';
import { type Decision, deciding, type Service } from '../deciding.ts';
import { tellDefaultChannels, tellDefaultGroups } from '../default-channels/default-events.ts';
import { systemGroupsOf } from '../directory/directory.ts';
import type { Entered } from '../subscription/authorization.ts';
import { personalParts } from '../subscription/join.ts';
import { newPersonal, personalColumns, personalRow, toSubscription } from '../subscription/personal.ts';
import { administeredChannel } from './known-channel.ts';

export function archiveHandlers(service: Service): Handlers {
  return [
    handle(channelOperations.archiveChannel, (context, params) =>
      deciding(service, context, async (decision) => {
        await archive(decision, await administeredChannel(decision, params.stream_id));
        return {};
      }),
    ),
  ];
}

/**
 * Archives a channel: subscriptions stay, default channels lose it. Clients that know archived channels hear of a change,
 * for all others it is gone.
 */
export async function archive(decision: Decision, { channel, subscribers }: Entered): Promise<void> {
  const { work, directory } = decision;
  if (channel.is_archived) throw badRequest('Channel is already deactivated');
  await work.run(
    sql.unsafe`UPDATE channels.channel SET is_archived = true, is_default = false WHERE id = ${channel.id}`,
  );
  channel.is_archived = true;
  work.bump(`channel:${channel.id}`);
  const knowers = knowersOf(channel, directory, subscribers);
  tellArchived(decision, channel, knowers);
  work.emit({
    type: 'subscription',
    op: 'remove',
    body: { subscriptions: [{ stream_id: channel.id, name: channel.name }] },
    audience: to(subscribers),
    forms: onlyIfArchivedIsUnknown,
  });
  work.emit({ ...channelsGone([channel.id]), audience: to(knowers), forms: onlyIfArchivedIsUnknown });
  if (channel.is_default) await tellDefaultChannels(work, directory);
  channel.is_default = false;
  const left = await work.run(sql.unsafe`DELETE FROM channels.default_group_channel WHERE channel_id = ${channel.id}`);
  if (left > 0) await tellDefaultGroups(work, directory);
}

/** Brings a channel back under its name, if that is free. */
export async function unarchive(decision: Decision, { channel, subscribers }: Entered): Promise<void> {
  const { work, directory } = decision;
  if (!channel.is_archived) throw badRequest('Channel is not currently deactivated');
  await work
    .run(sql.unsafe`UPDATE channels.channel SET is_archived = false WHERE id = ${channel.id}`)
    .catch((error: unknown) => {
      if (sqlState(error) === '23505') throw badRequest(`Channel named ${channel.name} already exists`);
      throw error;
    });
  channel.is_archived = false;
  work.bump(`channel:${channel.id}`);
  const knowers = knowersOf(channel, directory, subscribers);
  tellArchived(decision, channel, knowers);
  const systemGroups = systemGroupsOf(directory);
  work.emit({
    type: 'stream',
    op: 'create',
    body: { streams: [toChannel(channel, systemGroups)] },
    audience: to(knowers),
    forms: onlyIfArchivedIsUnknown,
  });
  const active = [...subscribers].filter((id) => directory.isActive(id));
  const others = minus(knowers, subscribers);
  if (active.length > 0 && others.length > 0)
    work.emit({ ...peersChanged('peer_add', [channel], active, others), forms: onlyIfArchivedIsUnknown });
  await tellSubscribedAgain(work, decision, channel, subscribers);
}

function tellArchived({ work, actor }: Decision, channel: ChannelRow, knowers: ReadonlySet<number>): void {
  work.emit({
    type: 'stream',
    op: 'update',
    body: { property: 'is_archived', value: channel.is_archived, stream_id: channel.id, name: channel.name },
    audience: to(knowers),
    forms: onlyIfArchivedIsKnown,
    note: { by: actor.userId },
  });
}

/** To clients that know no archived channels their subscription comes back too. */
async function tellSubscribedAgain(
  work: Work,
  { directory }: Decision,
  channel: ChannelRow,
  subscribers: ReadonlySet<number>,
): Promise<void> {
  if (subscribers.size === 0) return;
  const rows = await work.any(sql.type(personalRow.extend({ user_id: z.number() }))`
    SELECT s.user_id, ${personalColumns} FROM channels.subscription s WHERE s.channel_id = ${channel.id} AND s.is_active`);
  const personal = new Map(rows.map(({ user_id, ...own }) => [user_id, own]));
  const active = [...subscribers].filter((id) => directory.isActive(id));
  work.emit({
    type: 'subscription',
    op: 'add',
    body: {
      subscriptions: [toSubscription(channel, systemGroupsOf(directory), newPersonal(''), { subscribers: active })],
    },
    audience: to(subscribers),
    parts: personalParts(
      directory,
      [channel.id],
      [...subscribers],
      (_, userId) => personal.get(userId) ?? newPersonal(''),
    ),
    forms: onlyIfArchivedIsUnknown,
  });
}
