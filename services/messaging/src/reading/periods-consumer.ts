import { idsOf, type LogEvent } from '@natter/contracts';
import type { ConsumedEvent } from '@natter/database';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { readWhatIsLeft, readWhatIsMuted } from '../flags/mark-read.ts';
import { channelChanged } from './channel-copy.ts';

/**
 * Keeps who received what: the periods of subscriptions and of mutes, as intervals of the log's numbers. What ends with one
 * follows in the same transaction: messages of a channel that was left, and of somebody who is muted now, are read.
 */
export function periodsConsumer(owner: Owner): void {
  owner.consume({
    name: 'periods',
    types: ['subscription', 'stream', 'muted_users'],
    handle: async (work, { number, event }: ConsumedEvent) => {
      if (event.type === 'stream') return channelChanged(work, event);
      if (event.type === 'muted_users') return mutesChanged(work, number, event);
      if (event.op === 'update') return muteChanged(work, event);
      const { channel_ids, user_ids } = (event.note ?? {}) as { channel_ids?: number[]; user_ids?: number[] };
      if (!channel_ids || !user_ids) return;
      if (event.op === 'add') await begin(work, number, channel_ids, user_ids);
      if (event.op === 'remove') await end(work, number, channel_ids, user_ids);
    },
  });
}

async function muteChanged(work: Work, { body, audience }: LogEvent): Promise<void> {
  if (body.property !== 'is_muted' || audience === 'realm') return;
  for (const userId of idsOf(audience.users))
    if (body.value === true)
      await work.run(sql.unsafe`
        INSERT INTO messaging.muted_channel (realm_id, user_id, channel_id) VALUES (${work.realmId}, ${userId}, ${Number(body.stream_id)}) ON CONFLICT DO NOTHING`);
    else
      await work.run(
        sql.unsafe`DELETE FROM messaging.muted_channel WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND channel_id = ${Number(body.stream_id)}`,
      );
}

async function begin(work: Work, number: number, channelIds: number[], userIds: number[]): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.subscription_period (realm_id, user_id, channel_id, from_id)
    SELECT ${work.realmId}, u, c, ${number} FROM unnest(${sql.array(userIds, 'int4')}) u, unnest(${sql.array(channelIds, 'int4')}) c
    WHERE NOT EXISTS (SELECT FROM messaging.subscription_period p
      WHERE p.realm_id = ${work.realmId} AND p.user_id = u AND p.channel_id = c AND p.to_id IS NULL)`);
}

async function end(work: Work, number: number, channelIds: number[], userIds: number[]): Promise<void> {
  for (const userId of userIds) await readWhatIsLeft(work, userId, channelIds);
  await work.run(sql.unsafe`
    UPDATE messaging.subscription_period SET to_id = ${number}
    WHERE realm_id = ${work.realmId} AND to_id IS NULL AND user_id = ANY(${sql.array(userIds, 'int4')}) AND channel_id = ANY(${sql.array(channelIds, 'int4')})`);
}

const mutedRow = z.object({ muted_id: z.number() });

/** The event carries the whole list; what is new begins here, what is missing ends. */
async function mutesChanged(work: Work, number: number, event: LogEvent): Promise<void> {
  if (event.audience === 'realm') return;
  const list = (event.body.muted_users as { id: number }[]).map(({ id }) => id);
  for (const userId of idsOf(event.audience.users)) {
    const before = (
      await work.any(sql.type(mutedRow)`
        SELECT muted_id FROM messaging.mute_period WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND to_id IS NULL`)
    ).map((row) => row.muted_id);
    const gone = before.filter((id) => !list.includes(id));
    if (gone.length > 0)
      await work.run(sql.unsafe`
        UPDATE messaging.mute_period SET to_id = ${number}
        WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND to_id IS NULL AND muted_id = ANY(${sql.array(gone, 'int4')})`);
    for (const mutedId of list.filter((id) => !before.includes(id))) {
      // First what came until now, so that clients hear of it too where it came after the mute began.
      await readWhatIsMuted(work, userId, mutedId);
      await work.run(sql.unsafe`
        INSERT INTO messaging.mute_period (realm_id, user_id, muted_id, from_id) VALUES (${work.realmId}, ${userId}, ${mutedId}, ${number})`);
    }
  }
}
