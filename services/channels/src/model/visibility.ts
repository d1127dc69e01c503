import { channelPermissions, type GroupSetting, roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { groupsNamed, type Holder, hasMetadataAccess, revealingPermissions } from '@natter/permissions';
import { z } from 'zod';
import { minus } from './audience.ts';
import { channelsAppear, channelsVanish, type Revealed } from './channel-events.ts';
import { channelColumns, channelRow } from './channel-row.ts';
import { tellDefaultsTo } from './default-events.ts';
import type { Directory } from './directory/directory.ts';
import type { GroupChange } from './group-events.ts';

const seenRow = channelRow.extend({ is_subscribed: z.boolean() });

/** A user's role and groups before a change; the role is undefined for a new user. */
type Former = Omit<Holder, 'role'> & { role: number | undefined };

/** Emits the channels that appear to or disappear for a user whose role changed, or who is new. */
export async function tellChangeOfPerson(work: Work, directory: Directory, former: Former): Promise<void> {
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
  await tellDefaultsTo(work, userId, isNonGuest(former.role), isNonGuest(now.role));
}

const isNonGuest = (role: number | undefined): boolean => role !== undefined && role !== roles.guest;

/** Emits private channels that appear to or disappear for users because of a change of groups. */
export async function tellChangeOfGroups(work: Work, directory: Directory, change: GroupChange): Promise<void> {
  const affected = new Set([...change.values()].flatMap(({ gained, lost }) => [...gained, ...lost]));
  if (affected.size === 0) return;
  const channels = await work.any(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c WHERE c.realm_id = ${work.realmId} AND c.is_private ORDER BY c.id`);
  const named = channels.filter(({ permissions }) =>
    revealingPermissions.some((name) => groupsNamed(permissions[name]).some((id) => change.has(id))),
  );
  if (named.length === 0) return;
  const subscribed = await subscribedAmong(work, named, affected);
  const revealed: Revealed[] = [];
  const hidden: Revealed[] = [];
  for (const channel of named) {
    const gained: number[] = [];
    const lost: number[] = [];
    for (const userId of affected) {
      const role = directory.people.get(userId)?.role;
      // Users who see the channel for another reason, or can't see it through a group, are not affected.
      if (role === undefined || role <= roles.administrator || subscribed.get(channel.id)?.has(userId)) continue;
      const values = revealingPermissions
        .filter((name) => role !== roles.guest || channelPermissions[name].allow_everyone_group)
        .map((name) => channel.permissions[name]);
      const was = values.some((value) => wasIn(value, userId, directory, change));
      const is = values.some((value) => isIn(value, userId, directory));
      if (is && !was) gained.push(userId);
      if (was && !is) lost.push(userId);
    }
    if (gained.length > 0) revealed.push({ channel, to: gained });
    if (lost.length > 0) hidden.push({ channel, to: lost });
  }
  await channelsAppear(work, directory, revealed, true);
  channelsVanish(work, hidden);
}

const isNamed = (value: GroupSetting, userId: number): boolean =>
  typeof value !== 'number' && value.direct_members.includes(userId);

const isIn = (value: GroupSetting, userId: number, directory: Directory): boolean =>
  isNamed(value, userId) || groupsNamed(value).some((id) => directory.membersOf(id).has(userId));

const wasIn = (value: GroupSetting, userId: number, directory: Directory, change: GroupChange): boolean =>
  isNamed(value, userId) ||
  groupsNamed(value).some((id) => {
    const changed = change.get(id);
    if (changed?.gained.includes(userId)) return false;
    return changed?.lost.includes(userId) || directory.membersOf(id).has(userId);
  });

async function subscribedAmong(
  work: Work,
  channels: readonly { id: number }[],
  userIds: ReadonlySet<number>,
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
export async function tellChangeOfChannel(
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
