import { createHash } from 'node:crypto';
import { inTurns, requireEventRoom, type Work } from '@natter/database';
import { minus, type ToUsers, to } from './audience.ts';
import { countChanged, peersChanged } from './channel-events.ts';
import type { ChannelRow } from './channel-row.ts';
import { announce, hasEventRoom } from './event-room.ts';
import { grouped } from './grouped.ts';

/** Users who joined or left a channel's list of subscribers. */
export interface PeerChange {
  channel: ChannelRow;
  userIds: readonly number[];
  /** All users who can see the channel now: not kept, because there may be thousands in each of thousands of channels. */
  knowers: () => ReadonlySet<number>;
}

interface Announced extends Pick<PeerChange, 'channel' | 'userIds'> {
  audience: ToUsers;
  /** A key that is equal for equal audiences. */
  key: string;
}

/** Users who leave together up to this number get an event each, about the others. */
const few = 10;

/**
 * Notifies all of the number of subscribers, and others of the change, with one event for channels with the same users and
 * receivers. Of several users who leave together, each is notified of the others. If they are many, one event
 * for all names its receivers, too.
 */
export async function announcePeers(
  work: Work,
  op: 'peer_add' | 'peer_remove',
  changes: readonly PeerChange[],
): Promise<void> {
  // Each channel has at least the event about its number.
  if (!work.isConsumer) requireEventRoom(changes.length);
  const takeTurns = inTurns();
  const audienceOf = sharedAudiences();
  const announced: Announced[] = [];
  for (const { channel, userIds, knowers: find } of changes) {
    await takeTurns();
    const knowers = find();
    if (knowers.size > 0 && hasEventRoom(work, 'low'))
      announce(work, countChanged(channel, audienceOf(knowers, []).audience));
    const isTogether = op === 'peer_remove' && userIds.length > 1;
    if (isTogether && userIds.length > few) {
      announced.push({ channel, userIds, ...audienceOf(knowers, []) });
      continue;
    }
    announced.push({ channel, userIds, ...audienceOf(knowers, userIds) });
    if (isTogether)
      for (const id of userIds)
        if (knowers.has(id))
          announced.push({ channel, userIds: minus(userIds, new Set([id])), audience: to([id]), key: String(id) });
  }
  const told = announced.filter(({ audience: { users } }) => !('ids' in users) || users.ids.length > 0);
  for (const group of grouped(told, ({ channel, userIds, key }) => `${channel.is_archived} ${userIds.join()} ${key}`)) {
    const [first] = group;
    if (!first || !hasEventRoom(work)) break;
    const channels = group.map(({ channel }) => channel);
    announce(work, peersChanged(op, channels, first.userIds, first.audience));
  }
}

/** Returns the audience of a set of users without some, and a key that is equal for equal audiences. */
function sharedAudiences() {
  const known = new WeakMap<ReadonlySet<number>, Map<string, Pick<Announced, 'audience' | 'key'>>>();
  return (knowers: ReadonlySet<number>, without: readonly number[]): Pick<Announced, 'audience' | 'key'> => {
    const ofSet = known.get(knowers) ?? new Map<string, Pick<Announced, 'audience' | 'key'>>();
    known.set(knowers, ofSet);
    const made = ofSet.get(without.join());
    if (made) return made;
    const audience = to(minus(knowers, new Set(without)));
    const key = createHash('sha256').update(JSON.stringify(audience)).digest('base64');
    ofSet.set(without.join(), { audience, key });
    return { audience, key };
  };
}
