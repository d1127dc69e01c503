import type { Work } from '@natter/database';
import { minus } from '../audience.ts';
import { countChanged, peersChanged } from '../channel-events.ts';
import type { ChannelRow } from '../channel-row.ts';
import { grouped } from '../grouped.ts';

/** Whoever entered or left the list of a channel's subscribers, and everybody who may know the channel now. */
export interface PeerChange {
  channel: ChannelRow;
  userIds: readonly number[];
  knowers: ReadonlySet<number>;
}

/**
 * Tells the others of a change, channels with the same people and the same receivers in one event; then everybody how many
 * subscribers there are. Each of several who leave together is told of the others too.
 */
export function tellPeers(work: Work, op: 'peer_add' | 'peer_remove', changes: readonly PeerChange[]): void {
  const told = changes.map(({ channel, userIds, knowers }) => ({
    channel,
    userIds,
    others: op === 'peer_remove' && userIds.length > 1 ? [...knowers] : minus(knowers, new Set(userIds)),
  }));
  const keyOf = ({ channel, userIds, others }: (typeof told)[number]): string =>
    `${channel.is_archived} ${userIds.join()} ${others.join()}`;
  for (const group of grouped(
    told.filter(({ others }) => others.length > 0),
    keyOf,
  )) {
    const channels = group.map(({ channel }) => channel);
    work.emit(peersChanged(op, channels, group[0]?.userIds ?? [], group[0]?.others ?? []));
  }
  for (const { channel, knowers } of changes) if (knowers.size > 0) work.emit(countChanged(channel, knowers));
}
