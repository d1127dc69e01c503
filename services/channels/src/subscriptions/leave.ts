import { sql, type Work } from '@natter/database';
import { announcePeers } from '../model/announce-peers.ts';
import { knows, minus, sharedKnowers, to } from '../model/audience.ts';
import { channelsVanish, formsOf, type Revealed } from '../model/channel-events.ts';
import type { ChannelRow } from '../model/channel-row.ts';
import type { Directory } from '../model/directory/directory.ts';
import { grouped } from '../model/grouped.ts';
import { addToCounts, isCounted } from '../model/join.ts';

/** Users who leave a locked channel; `subscribers` are those before. */
export interface Leaving {
  channel: ChannelRow;
  subscribers: ReadonlySet<number>;
  gone: readonly number[];
}

/**
 * Messaging handles an event in one transaction, which locks the flags of each of its users and marks as read what they
 * leave.
 */
const usersPerEvent = 1_000;

/** Unsubscribes users from channels and emits the events. */
export async function leave(work: Work, directory: Directory, leavings: readonly Leaving[], by: number): Promise<void> {
  const real = leavings.filter(({ gone }) => gone.length > 0);
  if (real.length === 0) return;
  const rows = real.flatMap(({ channel, gone }) => gone.map((userId) => [channel.id, userId]));
  await work.run(sql.unsafe`
    UPDATE channels.subscription s SET is_active = false
    FROM ${sql.unnest(rows, ['int4', 'int4'])} AS r (channel, "user")
    WHERE s.channel_id = r.channel AND s.user_id = r."user"`);
  await addToCounts(
    work,
    real.map(({ channel, gone }) => ({ channel, by: -gone.filter((id) => isCounted(directory, id)).length })),
  );
  for (const { channel } of real) work.bump(`channel:${channel.id}`);
  for (const group of grouped(real, ({ channel, gone }) => `${channel.is_archived} ${gone.join()}`)) {
    const [first] = group;
    if (!first) continue;
    for (let from = 0; from < first.gone.length; from += usersPerEvent) {
      const gone = first.gone.slice(from, from + usersPerEvent);
      work.emit({
        type: 'subscription',
        op: 'remove',
        body: { subscriptions: group.map(({ channel }) => ({ stream_id: channel.id, name: channel.name })) },
        audience: to(gone),
        note: { by, channel_ids: group.map(({ channel }) => channel.id), user_ids: gone },
        ...formsOf(first.channel),
      });
    }
  }
  const knowers = sharedKnowers(directory);
  const changes = real.map(({ channel, subscribers, gone }) => ({
    channel,
    userIds: gone,
    knowers: () => knowers(channel, new Set(minus(subscribers, new Set(gone)))),
  }));
  await announcePeers(work, 'peer_remove', changes);
  const hidden = real.flatMap(({ channel, gone }): Revealed[] => {
    const receivers = gone.filter((id) => !knows(channel, directory, id, false));
    return receivers.length === 0 ? [] : [{ channel, receivers: () => receivers, key: receivers.join() }];
  });
  await channelsVanish(work, hidden);
}
