import type { Work } from '@natter/database';
import { minus } from './audience.ts';
import { countChanged, peersChanged } from './channel-events.ts';
import type { ChannelRow } from './channel-row.ts';
import { grouped } from './grouped.ts';

/** Users who joined or left a channel's list of subscribers, and all users who can see the channel now. */
export interface PeerChange {
  channel: ChannelRow;
  userIds: readonly number[];
  knowers: ReadonlySet<number>;
}

/** Users who leave together up to this number get an event each, about the others. */
const few = 10;

/**
 * Notifies others of a change, with one event for channels with the same users and receivers; then notifies all of the
 * number of subscribers. Of several users who leave together, each is notified of the others. If they are many, one event
 * for all names its receivers, too.
 */
export function announcePeers(work: Work, op: 'peer_add' | 'peer_remove', changes: readonly PeerChange[]): void {
  const announced = changes.flatMap(({ channel, userIds, knowers }) => {
    const isTogether = op === 'peer_remove' && userIds.length > 1;
    if (isTogether && userIds.length > few) return [{ channel, userIds, others: [...knowers] }];
    const leavers = isTogether ? userIds.filter((id) => knowers.has(id)) : [];
    return [
      { channel, userIds, others: minus(knowers, new Set(userIds)) },
      ...leavers.map((id) => ({ channel, userIds: minus(userIds, new Set([id])), others: [id] })),
    ];
  });
  const keyOf = ({ channel, userIds, others }: (typeof announced)[number]): string =>
    `${channel.is_archived} ${userIds.join()} ${others.join()}`;
  for (const group of grouped(
    announced.filter(({ others }) => others.length > 0),
    keyOf,
  )) {
    const channels = group.map(({ channel }) => channel);
    work.emit(peersChanged(op, channels, group[0]?.userIds ?? [], group[0]?.others ?? []));
  }
  for (const { channel, knowers } of changes) if (knowers.size > 0) work.emit(countChanged(channel, knowers));
}
