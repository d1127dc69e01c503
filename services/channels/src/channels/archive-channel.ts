import { badRequest, channelOperations } from '@natter/contracts';
import { duplicateAs, sql, type Work } from '@natter/database';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { knowersOf, minus, to } from '../model/audience.ts';
import type { Entered } from '../model/authorization.ts';
import {
  channelsGone,
  channelUpdated,
  onlyIfArchivedIsKnown,
  onlyIfArchivedIsUnknown,
  peersChanged,
} from '../model/channel-events.ts';
import { contextOf, toChannel } from '../model/channel-object.ts';
import type { ChannelRow } from '../model/channel-row.ts';
import { type Decision, deciding, type Service } from '../model/deciding.ts';
import { announceDefaults, type DefaultList } from '../model/default-events.ts';
import { personalParts } from '../model/join.ts';
import { administeredChannel } from '../model/known-channel.ts';
import { newPersonal, personalColumns, personalRow, toSubscription } from '../model/personal.ts';

export function archiveHandlers(service: Service): Handlers {
  return [
    handleWrite(channelOperations.archiveChannel, (context, params) =>
      deciding(service, context, async (decision) => {
        const lists = await archive(decision, await administeredChannel(decision, params.stream_id));
        await announceDefaults(decision, lists);
        return {};
      }),
    ),
  ];
}

/**
 * Archives a channel: subscriptions stay, and it is removed from the default channels. Clients that support archived
 * channels get an update, all others a deletion. Returns the lists that the caller announces.
 */
export async function archive(decision: Decision, { channel, subscribers }: Entered): Promise<DefaultList[]> {
  const { work, directory } = decision;
  if (channel.is_archived) throw badRequest('Channel is already deactivated');
  await work.run(
    sql.unsafe`UPDATE channels.channel SET is_archived = true, is_default = false WHERE id = ${channel.id}`,
  );
  channel.is_archived = true;
  work.bump(`channel:${channel.id}`);
  const knowers = knowersOf(channel, directory, subscribers);
  announceArchived(decision, channel, knowers);
  work.emit({
    type: 'subscription',
    op: 'remove',
    body: { subscriptions: [{ stream_id: channel.id, name: channel.name }] },
    audience: to(subscribers),
    forms: onlyIfArchivedIsUnknown,
  });
  work.emit({ ...channelsGone([channel.id], knowers), forms: onlyIfArchivedIsUnknown });
  const lists: DefaultList[] = channel.is_default ? ['channels'] : [];
  channel.is_default = false;
  const left = await work.run(sql.unsafe`DELETE FROM channels.default_group_channel WHERE channel_id = ${channel.id}`);
  return left > 0 ? [...lists, 'groups'] : lists;
}

/** Restores a channel under its name, if the name is free. */
export async function unarchive(decision: Decision, { channel, subscribers }: Entered): Promise<void> {
  const { work, directory } = decision;
  if (!channel.is_archived) throw badRequest('Channel is not currently deactivated');
  await work
    .run(sql.unsafe`UPDATE channels.channel SET is_archived = false WHERE id = ${channel.id}`)
    .catch(duplicateAs(() => badRequest(`Channel named ${channel.name} already exists`)));
  channel.is_archived = false;
  work.bump(`channel:${channel.id}`);
  const knowers = knowersOf(channel, directory, subscribers);
  announceArchived(decision, channel, knowers);
  work.emit({
    type: 'stream',
    op: 'create',
    body: { streams: [toChannel(channel, contextOf(directory))] },
    audience: to(knowers),
    isForClientsOnly: true,
    forms: onlyIfArchivedIsUnknown,
  });
  const active = [...subscribers].filter((id) => directory.isActive(id));
  const others = minus(knowers, subscribers);
  if (active.length > 0 && others.length > 0)
    work.emit({ ...peersChanged('peer_add', [channel], active, to(others)), forms: onlyIfArchivedIsUnknown });
  await announceSubscribedAgain(work, decision, channel, subscribers);
}

function announceArchived({ work, actor }: Decision, channel: ChannelRow, knowers: ReadonlySet<number>): void {
  work.emit({
    ...channelUpdated(channel, 'is_archived', channel.is_archived, knowers),
    forms: onlyIfArchivedIsKnown,
    note: { by: actor.userId },
  });
}

/** Clients that do not support archived channels get their subscription back too. */
async function announceSubscribedAgain(
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
      subscriptions: [toSubscription(channel, contextOf(directory), newPersonal(''), { subscribers: active })],
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
