import { channelPermissions, roles } from '@natter/contracts';
import { inTurns, sql, type Work } from '@natter/database';
import { groupsNamed, type Holder, hasMetadataAccess, revealingPermissions } from '@natter/permissions';
import { z } from 'zod';
import { minus } from './audience.ts';
import {
  type Appeared,
  announceSubscribersOf,
  channelsAppear,
  channelsVanish,
  type Revealed,
} from './channel-events.ts';
import { channelsInPortions, listedChannelsAtOnce } from './channel-portions.ts';
import type { ChannelRow } from './channel-row.ts';
import { announceDefaultsTo } from './default-events.ts';
import type { Directory } from './directory/directory.ts';
import type { UserSet } from './directory/user-set.ts';
import { hasEventRoom } from './event-room.ts';
import type { GroupChange } from './group-events.ts';
import { portions } from './grouped.ts';

/** A user's role and groups before a change; the role is undefined for a new user. */
type Former = Omit<Holder, 'role'> & { role: number | undefined };

/** Users whom the transaction adds. Until it is committed, the snapshot of channels is refused to them. */
export interface Added {
  /** Which channels appear to them is not announced: they have no queue that lacks these channels. */
  prompt: Set<number>;
  /**
   * Their additions are applied late, so they may have queues without these channels. The subscribers of these channels are not
   * announced: a realm can have so many that each addition would delay the next ones.
   */
  late: Set<number>;
}

/** Emits the channels that appear to or disappear for a user whose role changed, or who is new. */
export async function announceChangeOfPerson(
  work: Work,
  directory: Directory,
  former: Former,
  { withSubscribers = true } = {},
): Promise<void> {
  const { userId, role } = former;
  const now = directory.holder(userId);
  if (!now) return;
  const subscribed = await subscribedBy(work, userId);
  // Users who are not guests see the same public channels.
  const isEither = role === undefined || isNonGuest(role) !== isNonGuest(now.role);
  const only = { receivers: () => [userId], key: String(userId) };
  const appeared: Appeared[] = [];
  for await (const channels of channelsInPortions(work, sql.fragment`(c.is_private OR ${isEither})`)) {
    const revealed: Revealed[] = [];
    const hidden: Revealed[] = [];
    for (const channel of channels) {
      const isSubscribed = subscribed.has(channel.id);
      const was = role !== undefined && hasMetadataAccess(channel, { ...former, role }, isSubscribed);
      const is = hasMetadataAccess(channel, now, isSubscribed);
      if (is && !was) revealed.push({ channel, ...only });
      if (was && !is) hidden.push({ channel, ...only });
    }
    appeared.push(...(await channelsAppear(work, directory, revealed)));
    await channelsVanish(work, hidden);
  }
  if (withSubscribers) await announceSubscribersOf(work, directory, appeared);
  await announceDefaultsTo(work, userId, isNonGuest(role), isNonGuest(now.role));
}

async function subscribedBy(work: Work, userId: number): Promise<ReadonlySet<number>> {
  const rows = await work.any(sql.type(z.object({ channel_id: z.number() }))`
    SELECT channel_id FROM channels.subscription
    WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND is_active`);
  return new Set(rows.map(({ channel_id }) => channel_id));
}

const isNonGuest = (role: number | undefined): boolean => role !== undefined && role !== roles.guest;

/**
 * Emits private channels that appear to or disappear for users because of a change of groups. Many channels and users
 * can be affected at once, so users are compared as sets, and listed only for events.
 */
export async function announceChangeOfGroups(
  work: Work,
  directory: Directory,
  change: GroupChange,
  { prompt, late }: Added,
): Promise<void> {
  const changed = directory.usersOf();
  for (const { gained, lost } of change.values()) changed.addAll(gained).addAll(lost);
  // Administrators see every channel.
  const affected = minus(changed, prompt).filter((id) => (directory.people.get(id)?.role ?? 0) > roles.administrator);
  if (affected.length === 0) return;
  const movesOf = movesThrough(directory, change, affected);
  const appeared: Appeared[] = [];
  const takeTurns = inTurns();
  // If nobody leaves a group, channels only appear.
  const importance = [...change.values()].every(({ lost }) => lost.isEmpty) ? 'low' : 'high';
  for await (const channels of channelsRevealedBy(work, change)) {
    if (!hasEventRoom(work, importance)) break;
    const subscribed = await subscribedAmong(work, channels, affected);
    const revealed: Revealed[] = [];
    const hidden: Revealed[] = [];
    for (const channel of channels) {
      await takeTurns();
      // Subscribers see the channel anyway.
      const { gained, lost } = movesOf(channel, subscribed.get(channel.id) ?? []);
      if (!gained.isEmpty) revealed.push({ channel, receivers: () => gained.list(), key: gained.key });
      if (!lost.isEmpty) hidden.push({ channel, receivers: () => lost.list(), key: lost.key });
    }
    appeared.push(...(await channelsAppear(work, directory, revealed)));
    await channelsVanish(work, hidden);
  }
  if (affected.some((id) => !late.has(id))) await announceSubscribersOf(work, directory, appeared);
}

/** The private channels that a permission reveals to one of the groups, in portions. */
async function* channelsRevealedBy(work: Work, change: GroupChange): AsyncGenerator<readonly ChannelRow[]> {
  for await (const channels of channelsInPortions(work, sql.fragment`c.is_private`)) {
    const revealed = channels.filter(({ permissions }) =>
      revealingPermissions.some((name) => groupsNamed(permissions[name]).some((id) => change.has(id))),
    );
    yield* portions(revealed, listedChannelsAtOnce, () => 1);
  }
}

/** Returns a function for the affected users, except some, who begin and who cease to see a channel. */
function movesThrough(directory: Directory, change: GroupChange, affected: readonly number[]) {
  const all = directory.usersOf(affected);
  const seersBefore = seersThrough(directory, affected, membersBefore(directory, change));
  const seersNow = seersThrough(directory, affected, (id) => directory.membersOf(id));
  return (channel: ChannelRow, except: readonly number[]) => {
    const others = all.copy().deleteAll(directory.usersOf(except));
    const [was, is] = [seersBefore(channel), seersNow(channel)];
    return { gained: is.copy().deleteAll(was).keepAll(others), lost: was.deleteAll(is).keepAll(others) };
  };
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

const subscribedRow = z.object({ channel_id: z.number(), users: z.array(z.number()) });

/** The subscribers of each channel among these users. */
async function subscribedAmong(
  work: Work,
  channels: readonly { id: number }[],
  userIds: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const ids = sql.array(
    channels.map(({ id }) => id),
    'int4',
  );
  const rows = await work.any(sql.type(subscribedRow)`
    SELECT channel_id, json_agg(user_id) AS users FROM channels.subscription
    WHERE is_active AND channel_id = ANY(${ids}) AND user_id = ANY(${sql.array([...userIds], 'int4')}) GROUP BY channel_id`);
  return new Map(rows.map(({ channel_id, users }) => [channel_id, users]));
}

/** Emits the appearance or disappearance of one channel whose settings changed. */
export async function announceChangeOfChannel(
  work: Work,
  directory: Directory,
  channel: ChannelRow,
  knowers: { before: ReadonlySet<number>; after: ReadonlySet<number> },
): Promise<void> {
  const gained = minus(knowers.after, knowers.before);
  const lost = minus(knowers.before, knowers.after);
  if (gained.length > 0) {
    const appeared = await channelsAppear(work, directory, [{ channel, receivers: () => gained, key: '' }]);
    await announceSubscribersOf(work, directory, appeared);
  }
  if (lost.length > 0) await channelsVanish(work, [{ channel, receivers: () => lost, key: '' }]);
}
