import { idsOf, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { announceMutesIn } from '../changed-mutes.ts';
import { channelsAppeared, channelUpdated } from './channel-copy.ts';
import { leaveChannels } from './leave-channels.ts';
import { correctEarlier, mutesChanged } from './mutes.ts';

/**
 * Maintains the periods of subscriptions and mutes, as intervals of log numbers, which determine the receivers of
 * messages. Messages of a channel that was left, and of a newly muted user, become read: in the same transaction, unless they
 * are many and the channel was left.
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
        if (note) await leaveChannels(work, number, note.channel_ids, note.user_ids);
      },
    },
    finish: async (work) => void (await correctEarlier(work)),
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
