import { roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { hasContentAccess } from '@natter/permissions';
import { z } from 'zod';
import { subscribersOf } from '../channel-events.ts';
import { type ChannelRow, channelColumns, channelRow } from '../channel-row.ts';
import type { Directory, Person } from '../directory/directory.ts';
import { mayAddByChannel } from './authorization.ts';
import { join } from './join.ts';

/**
 * What the users service may say of a newcomer: whether their invitation gives them the default channels, and to which
 * channels it subscribes them besides.
 */
const newcomerNote = z.object({
  default_channels: z.boolean().optional(),
  channel_ids: z.array(z.number()).default([]),
  invited_by: z.number().nullish(),
  /** By the realm's permission, when the newcomer joined. */
  inviter_may_add_subscribers: z.boolean().default(true),
});
type Wishes = z.infer<typeof newcomerNote>;

/** Default channels are for people; guests get them only where they were invited to them. */
export async function subscribeNewcomer(
  work: Work,
  directory: Directory,
  person: Person,
  note: Record<string, unknown>,
): Promise<void> {
  if (person.isBot || !person.isActive) return;
  const wishes = newcomerNote.parse(note);
  const wantsDefaults = wishes.default_channels ?? person.role !== roles.guest;
  const channels = await work.any(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c
    WHERE c.realm_id = ${work.realmId} AND NOT c.is_archived
      AND (c.id = ANY(${sql.array(wishes.channel_ids, 'int4')}) OR (${wantsDefaults} AND c.is_default))
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
 * An invitation conveys the channels to which its creator may add somebody now, or that are default channels and visible to the
 * creator: the rule by which it was made (`checkInvitedChannels`), with the tables of this transaction.
 */
function grantedBy(directory: Directory, { invited_by, inviter_may_add_subscribers: mayAddAnywhere }: Wishes) {
  const inviter = invited_by == null ? undefined : directory.holder(invited_by);
  const isActive = invited_by != null && directory.people.get(invited_by)?.isActive === true;
  return (channel: ChannelRow, subscribers: ReadonlySet<number>): boolean => {
    if (!inviter || !isActive) return false;
    const isSubscribed = subscribers.has(inviter.userId);
    if (!hasContentAccess(channel, inviter, isSubscribed)) return false;
    return channel.is_default || mayAddAnywhere || mayAddByChannel(channel, inviter, isSubscribed);
  };
}
