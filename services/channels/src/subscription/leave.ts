import { sql, type Work } from '@natter/database';
import { knowersOf, knows, minus, to } from '../audience.ts';
import { channelsVanish, formsOf } from '../channel-events.ts';
import type { ChannelRow } from '../channel-row.ts';
import type { Directory } from '../directory/directory.ts';
import { grouped } from '../grouped.ts';
import { addToCounts, isCounted } from './join.ts';
import { tellPeers } from './tell-peers.ts';

/** Who leaves a channel that is locked; `subscribers` are those before. */
export interface Leaving {
  channel: ChannelRow;
  subscribers: ReadonlySet<number>;
  gone: readonly number[];
}

/** Unsubscribes people from channels and tells everybody concerned. */
export async function leave(
  work: Work,
  directory: Directory,
  leavings: readonly Leaving[],
  note: Record<string, unknown>,
): Promise<void> {
  const real = leavings.filter(({ gone }) => gone.length > 0);
  if (real.length === 0) return;
  const rows = real.flatMap(({ channel, gone }) => gone.map((user) => ({ channel: channel.id, user })));
  await work.run(sql.unsafe`
    UPDATE channels.subscription s SET is_active = false
    FROM unnest(${sql.array(
      rows.map(({ channel }) => channel),
      'int4',
    )}, ${sql.array(
      rows.map(({ user }) => user),
      'int4',
    )}) AS r (channel, "user")
    WHERE s.channel_id = r.channel AND s.user_id = r."user"`);
  await addToCounts(
    work,
    real.map(({ channel, gone }) => ({ channel, by: -gone.filter((id) => isCounted(directory, id)).length })),
  );
  for (const { channel } of real) work.bump(`channel:${channel.id}`);
  for (const group of grouped(real, ({ channel, gone }) => `${channel.is_archived} ${gone.join()}`)) {
    const [first] = group;
    if (!first) continue;
    work.emit({
      type: 'subscription',
      op: 'remove',
      body: { subscriptions: group.map(({ channel }) => ({ stream_id: channel.id, name: channel.name })) },
      audience: to(first.gone),
      note: { ...note, channel_ids: group.map(({ channel }) => channel.id), user_ids: first.gone },
      ...formsOf(first.channel),
    });
  }
  const changes = real.map(({ channel, subscribers, gone }) => ({
    channel,
    userIds: gone,
    knowers: knowersOf(channel, directory, new Set(minus(subscribers, new Set(gone)))),
  }));
  tellPeers(work, 'peer_remove', changes);
  channelsVanish(
    work,
    real
      .map(({ channel, gone }) => ({ channel, to: gone.filter((id) => !knows(channel, directory, id, false)) }))
      .filter(({ to }) => to.length > 0),
  );
}
