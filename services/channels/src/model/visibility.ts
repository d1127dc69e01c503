import { channelPermissions, roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { groupsNamed, type Holder, hasMetadataAccess, revealingPermissions } from '@natter/permissions';
import { z } from 'zod';
import { minus } from './audience.ts';
import { channelsAppear, channelsVanish, type Revealed } from './channel-events.ts';
import { type ChannelRow, channelColumns, channelRow } from './channel-row.ts';
import { announceDefaultsTo } from './default-events.ts';
import type { Directory } from './directory/directory.ts';
import type { UserSet } from './directory/user-set.ts';
import type { GroupChange } from './group-events.ts';

const seenRow = channelRow.extend({ is_subscribed: z.boolean() });

/** A user's role and groups before a change; the role is undefined for a new user. */
type Former = Omit<Holder, 'role'> & { role: number | undefined };

/** Emits the channels that appear to or disappear for a user whose role changed, or who is new. */
export async function announceChangeOfPerson(work: Work, directory: Directory, former: Former): Promise<void> {
  const { userId } = former;
  const now = directory.holder(userId);
  if (!now) return;
  const channels = await work.any(sql.type(seenRow)`
    SELECT ${channelColumns}, coalesce(s.is_active, false) AS is_subscribed FROM channels.channel c
    LEFT JOIN channels.subscription s ON s.channel_id = c.id AND s.user_id = ${userId}
    WHERE c.realm_id = ${work.realmId} ORDER BY c.id`);
  const revealed: Revealed[] = [];
  const hidden: Revealed[] = [];
  for (const channel of channels) {
    const { role } = former;
    const was = role !== undefined && hasMetadataAccess(channel, { ...former, role }, channel.is_subscribed);
    const is = hasMetadataAccess(channel, now, channel.is_subscribed);
    if (is && !was) revealed.push({ channel, to: [userId] });
    if (was && !is) hidden.push({ channel, to: [userId] });
  }
  await channelsAppear(work, directory, revealed, former.role !== undefined);
  channelsVanish(work, hidden);
  await announceDefaultsTo(work, userId, isNonGuest(former.role), isNonGuest(now.role));
}

const isNonGuest = (role: number | undefined): boolean => role !== undefined && role !== roles.guest;

/**
 * Emits private channels that appear to or disappear for users because of a change of groups. Many channels and users
 * can be affected at once, so users are compared as sets, and equal lists of users are one object.
 */
export async function announceChangeOfGroups(work: Work, directory: Directory, change: GroupChange): Promise<void> {
  const changed = directory.usersOf();
  for (const { gained, lost } of change.values()) changed.addAll(gained).addAll(lost);
  // Administrators see every channel.
  const affected = [...changed].filter((id) => (directory.people.get(id)?.role ?? 0) > roles.administrator);
  if (affected.length === 0) return;
  const channels = await work.any(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c WHERE c.realm_id = ${work.realmId} AND c.is_private ORDER BY c.id`);
  const named = channels.filter(({ permissions }) =>
    revealingPermissions.some((name) => groupsNamed(permissions[name]).some((id) => change.has(id))),
  );
  if (named.length === 0) return;
  const subscribed = await subscribedAmong(work, named, affected);
  const lists = new Map<string, number[]>();
  const listOf = (users: UserSet): number[] => {
    const list = lists.get(users.key) ?? [...users];
    lists.set(users.key, list);
    return list;
  };
  const all = directory.usersOf(affected);
  const seersBefore = seersThrough(directory, affected, membersBefore(directory, change));
  const seersNow = seersThrough(directory, affected, (id) => directory.membersOf(id));
  const revealed: Revealed[] = [];
  const hidden: Revealed[] = [];
  for (const channel of named) {
    // Subscribers see the channel anyway.
    const others = all.copy().deleteAll(directory.usersOf(subscribed.get(channel.id)));
    const [was, is] = [seersBefore(channel), seersNow(channel)];
    const gained = listOf(is.copy().deleteAll(was).keepAll(others));
    const lost = listOf(was.deleteAll(is).keepAll(others));
    if (gained.length > 0) revealed.push({ channel, to: gained });
    if (lost.length > 0) hidden.push({ channel, to: lost });
  }
  await channelsAppear(work, directory, revealed, true);
  channelsVanish(work, hidden);
}

type MembersOf = (groupId: number) => UserSet;

function membersBefore(directory: Directory, change: GroupChange): MembersOf {
  const known = new Map<number, UserSet>();
  return (id) => {
    const changed = change.get(id);
    if (!changed) return directory.membersOf(id);
    const before = known.get(id) ?? directory.membersOf(id).copy().addAll(changed.lost).deleteAll(changed.gained);
    known.set(id, before);
    return before;
  };
}

/** The users who see a channel because of its permissions. Only affected guests are excluded where guests have no right. */
function seersThrough(directory: Directory, affected: readonly number[], membersOf: MembersOf) {
  const guests = directory.usersOf(affected.filter((id) => directory.people.get(id)?.role === roles.guest));
  return ({ permissions }: Pick<ChannelRow, 'permissions'>): UserSet => {
    const seers = directory.usersOf();
    for (const name of revealingPermissions) {
      const value = permissions[name];
      const holders = directory.usersOf(typeof value === 'number' ? [] : value.direct_members);
      for (const id of groupsNamed(value)) holders.addAll(membersOf(id));
      if (!channelPermissions[name].allow_everyone_group) holders.deleteAll(guests);
      seers.addAll(holders);
    }
    return seers;
  };
}

async function subscribedAmong(
  work: Work,
  channels: readonly { id: number }[],
  userIds: readonly number[],
): Promise<Map<number, Set<number>>> {
  const rows = await work.any(sql.type(z.object({ channel_id: z.number(), user_id: z.number() }))`
    SELECT channel_id, user_id FROM channels.subscription WHERE is_active
      AND channel_id = ANY(${sql.array(
        channels.map(({ id }) => id),
        'int4',
      )}) AND user_id = ANY(${sql.array([...userIds], 'int4')})`);
  const subscribed = new Map<number, Set<number>>();
  for (const { channel_id, user_id } of rows)
    subscribed.set(channel_id, (subscribed.get(channel_id) ?? new Set()).add(user_id));
  return subscribed;
}

/** Emits the appearance or disappearance of one channel whose settings changed. */
export async function announceChangeOfChannel(
  work: Work,
  directory: Directory,
  channel: z.infer<typeof channelRow>,
  knowers: { before: ReadonlySet<number>; after: ReadonlySet<number> },
): Promise<void> {
  const gained = minus(knowers.after, knowers.before);
  const lost = minus(knowers.before, knowers.after);
  if (gained.length > 0) await channelsAppear(work, directory, [{ channel, to: gained }], true);
  if (lost.length > 0) channelsVanish(work, [{ channel, to: lost }]);
}
