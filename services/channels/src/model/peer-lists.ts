import { sql, type Work } from '@natter/database';
import { announcePeers } from './announce-peers.ts';
import { sharedKnowers } from './audience.ts';
import { subscribersOf } from './channel-events.ts';
import { listedChannelsAtOnce } from './channel-portions.ts';
import { channelColumns, channelRow } from './channel-row.ts';
import type { Directory } from './directory/directory.ts';
import { hasEventRoom } from './event-room.ts';
import { portions } from './grouped.ts';
import { addToCounts } from './join.ts';

/**
 * A deactivated user is removed from the lists of subscribers, keeps the subscriptions, and receives no more messages.
 */
export const leaveLists = (work: Work, directory: Directory, userId: number): Promise<void> =>
  change(work, directory, userId, 'peer_remove');

/** A reactivated user is listed again. */
export const enterLists = (work: Work, directory: Directory, userId: number): Promise<void> =>
  change(work, directory, userId, 'peer_add');

async function change(work: Work, directory: Directory, userId: number, op: 'peer_add' | 'peer_remove'): Promise<void> {
  const channels = await work.any(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c JOIN channels.subscription s ON s.channel_id = c.id
    WHERE s.realm_id = ${work.realmId} AND s.user_id = ${userId} AND s.is_active ORDER BY c.id FOR UPDATE OF c`);
  if (channels.length === 0) return;
  const by = op === 'peer_add' ? 1 : -1;
  await addToCounts(
    work,
    channels.map((channel) => ({ channel, by })),
  );
  for (const { id } of channels) work.bump(`channel:${id}`);
  const knowers = sharedKnowers(directory);
  for (const some of portions(channels, listedChannelsAtOnce, () => 1)) {
    if (!hasEventRoom(work)) return;
    const subscribers = await subscribersOf(
      work,
      some.map(({ id }) => id),
    );
    const changes = some.map((channel) => ({
      channel,
      userIds: [userId],
      knowers: () => knowers(channel, subscribers.get(channel.id) ?? new Set()),
    }));
    await announcePeers(work, op, changes);
  }
}
