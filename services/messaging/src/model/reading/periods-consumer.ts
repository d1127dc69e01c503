import { idsOf, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { readWhatIsLeft, readWhatIsMuted } from '../mark-read.ts';
import { channelsAppeared, channelUpdated } from './channel-copy.ts';

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
        if (note) await end(work, number, note.channel_ids, note.user_ids);
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
}

async function end(work: Work, number: number, channelIds: Ids, userIds: Ids): Promise<void> {
  for (const userId of userIds) await readWhatIsLeft(work, userId, channelIds);
  await work.run(sql.unsafe`
    UPDATE messaging.subscription_period SET to_id = ${number}
    WHERE realm_id = ${work.realmId} AND to_id IS NULL AND user_id = ANY(${sql.array([...userIds], 'int4')}) AND channel_id = ANY(${sql.array([...channelIds], 'int4')})`);
}

const mutedRow = z.object({ muted_id: z.number() });

/** The event contains the whole list: new entries begin a period here, missing ones end it. */
async function mutesChanged(work: Work, event: LogEvent<'muted_users'>, number: number): Promise<void> {
  const list = event.body.muted_users.map(({ id }) => id);
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
      // Existing messages first, so that clients are notified of them even if they arrived after the mute began.
      await readWhatIsMuted(work, userId, mutedId);
      await work.run(sql.unsafe`
        INSERT INTO messaging.mute_period (realm_id, user_id, muted_id, from_id) VALUES (${work.realmId}, ${userId}, ${mutedId}, ${number})`);
    }
  }
}
