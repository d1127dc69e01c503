import { idsOf, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { announceMutesIn } from '../changed-mutes.ts';
import { readWhatIsMuted } from '../mark-read.ts';
import { channelsAppeared, channelUpdated } from './channel-copy.ts';
import { leaveChannels } from './leave-channels.ts';

/**
 * Maintains the periods of subscriptions and mutes, as intervals of log numbers, which determine the receivers of
 * messages. In the same transaction, messages of a channel that was left, and of a newly muted user, become read.
 */
export function periodsConsumer(owner: Owner): void {
  owner.consume({
    name: 'periods',
    on: {
      'stream/create': channelsAppeared,
      'stream/update': channelUpdated,
      muted_users: mutesChanged,
      'subscription/update': muteChanged,
      'subscription/add': async (work, { note }, number) => {
        if (note) await begin(work, number, note.channel_ids, note.user_ids);
      },
      'subscription/remove': async (work, { note }, number) => {
        return note ? leaveChannels(work, number, note.channel_ids, note.user_ids) : undefined;
      },
    },
  });
}

async function muteChanged(work: Work, { body, audience }: LogEvent<'subscription/update'>): Promise<void> {
  if (body.property !== 'is_muted') return;
  for (const userId of idsOf(audience.users))
    if (body.value)
      await work.run(sql.unsafe`
        INSERT INTO messaging.muted_channel (realm_id, user_id, channel_id) VALUES (${work.realmId}, ${userId}, ${body.stream_id}) ON CONFLICT DO NOTHING`);
    else
      await work.run(
        sql.unsafe`DELETE FROM messaging.muted_channel WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND channel_id = ${body.stream_id}`,
      );
}

type Ids = readonly number[];

async function begin(work: Work, number: number, channelIds: Ids, userIds: Ids): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.subscription_period (realm_id, user_id, channel_id, from_id)
    SELECT ${work.realmId}, u, c, ${number} FROM unnest(${sql.array([...userIds], 'int4')}) u, unnest(${sql.array([...channelIds], 'int4')}) c
    WHERE NOT EXISTS (SELECT FROM messaging.subscription_period p
      WHERE p.realm_id = ${work.realmId} AND p.user_id = u AND p.channel_id = c AND p.to_id IS NULL)`);
  await announceMutesIn(work, channelIds, userIds);
}

const mutedRow = z.object({ muted_id: z.number() });

/** The event contains the whole list: new entries begin a period here, missing ones end it. */
async function mutesChanged(work: Work, event: LogEvent<'muted_users'>, number: number): Promise<void> {
  const list = new Set(event.body.muted_users.map(({ id }) => id));
  for (const userId of idsOf(event.audience.users)) {
    const rows = await work.any(sql.type(mutedRow)`
      SELECT muted_id FROM messaging.mute_period WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND to_id IS NULL`);
    const before = new Set(rows.map((row) => row.muted_id));
    const gone = [...before].filter((id) => !list.has(id));
    if (gone.length > 0) await endMutes(work, number, userId, gone);
    for (const mutedId of list) {
      if (before.has(mutedId)) continue;
      // Existing messages first, so that clients are notified of them even if they arrived after the mute began.
      await readWhatIsMuted(work, userId, mutedId, number);
      await work.run(sql.unsafe`
        INSERT INTO messaging.mute_period (realm_id, user_id, muted_id, from_id) VALUES (${work.realmId}, ${userId}, ${mutedId}, ${number})`);
    }
  }
}

/** A mute during which the muted user sent nothing leaves no period, so that toggled mutes do not accumulate. */
async function endMutes(work: Work, number: number, userId: number, mutedIds: Ids): Promise<void> {
  const open = sql.fragment`p.realm_id = ${work.realmId} AND p.user_id = ${userId} AND p.to_id IS NULL AND p.muted_id = ANY(${sql.array([...mutedIds], 'int4')})`;
  await work.run(sql.unsafe`
    DELETE FROM messaging.mute_period p WHERE ${open} AND NOT EXISTS (SELECT FROM messaging.message m
      WHERE m.realm_id = p.realm_id AND m.sender_id = p.muted_id AND m.id > p.from_id AND m.id < ${number})`);
  await work.run(sql.unsafe`UPDATE messaging.mute_period p SET to_id = ${number} WHERE ${open}`);
}
