import { type NewcomerNote, roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { hasContentAccess } from '@natter/permissions';
import { mayAddByChannel } from './authorization.ts';
import { subscribersOf } from './channel-events.ts';
import { type ChannelRow, channelColumns, channelRow } from './channel-row.ts';
import type { Directory, Person } from './directory/directory.ts';
import { join } from './join.ts';

type Wishes = Partial<NewcomerNote>;

/** Default channels are for members; guests get only those that their invitation names. */
export async function subscribeNewcomer(
  work: Work,
  directory: Directory,
  person: Person,
  wishes: Wishes,
): Promise<void> {
  if (person.isBot || !person.isActive) return;
  const wantsDefaults = wishes.default_channels ?? person.role !== roles.guest;
  const channels = await work.any(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c
    WHERE c.realm_id = ${work.realmId} AND NOT c.is_archived
      AND (c.id = ANY(${sql.array(wishes.channel_ids ?? [], 'int4')}) OR (${wantsDefaults} AND c.is_default))
    ORDER BY c.id FOR UPDATE`);
  if (channels.length === 0) return;
  const subscribers = await subscribersOf(
    work,
    channels.map(({ id }) => id),
  );
  const isGranted = grantedBy(directory, wishes);
  const granted = channels.filter((channel) => {
    if (wantsDefaults && channel.is_default) return true;
    return isGranted(channel, subscribers.get(channel.id) ?? new Set());
  });
  const joinings = granted.map((channel) => ({
    channel,
    subscribers: subscribers.get(channel.id) ?? new Set<number>(),
    added: subscribers.get(channel.id)?.has(person.userId) ? [] : [person.userId],
  }));
  if (joinings.length === 0) return;
  await join(work, directory, joinings, { by: wishes.invited_by ?? null, notify: [] });
}

/**
 * An invitation grants the channels to which its creator may currently add subscribers, and the default channels that
 * the creator can see: the same rule as at its creation (`checkInvitedChannels`), with the tables of this transaction.
 */
function grantedBy(directory: Directory, { invited_by, inviter_may_add_subscribers: mayAddAnywhere = true }: Wishes) {
  const inviter = invited_by == null ? undefined : directory.holder(invited_by);
  const isActive = invited_by != null && directory.people.get(invited_by)?.isActive === true;
  return (channel: ChannelRow, subscribers: ReadonlySet<number>): boolean => {
    if (!inviter || !isActive) return false;
    const isSubscribed = subscribers.has(inviter.userId);
    if (!hasContentAccess(channel, inviter, isSubscribed)) return false;
    return channel.is_default || mayAddAnywhere || mayAddByChannel(channel, inviter, isSubscribed);
  };
}
