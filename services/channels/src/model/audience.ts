import { type Audience, channelPermissions, idSet, roles } from '@natter/contracts';
import { type AccessibleChannel, hasMetadataAccess, revealingPermissions } from '@natter/permissions';
import type { Directory } from './directory/directory.ts';

export type ToUsers = Exclude<Audience, 'realm'>;

export const to = (userIds: Iterable<number>): ToUsers => ({ users: idSet(userIds) });

/** All users who can see the channel. Must agree with `knows` for each user. */
export function knowersOf(
  channel: AccessibleChannel,
  directory: Directory,
  subscribers: ReadonlySet<number>,
): Set<number> {
  if (channel.is_web_public) return new Set(directory.everybody());
  const knowers = new Set(channel.is_private ? directory.administrators() : directory.nonGuests());
  for (const id of subscribers) if (directory.people.has(id)) knowers.add(id);
  if (!channel.is_private) return knowers;
  for (const name of revealingPermissions)
    for (const id of directory.holdersOf(channel.permissions[name])) {
      const role = directory.people.get(id)?.role;
      if (role !== undefined && (role !== roles.guest || channelPermissions[name].allow_everyone_group))
        knowers.add(id);
    }
  return knowers;
}

/** Returns `knowersOf` for many channels: public ones that the same users can see get one set. */
export function sharedKnowers(
  directory: Directory,
): (channel: AccessibleChannel, subscribers: ReadonlySet<number>) => ReadonlySet<number> {
  const shared = new Map<boolean, ReadonlySet<number>>();
  return (channel, subscribers) => {
    if (channel.is_private) return knowersOf(channel, directory, subscribers);
    const known = shared.get(channel.is_web_public) ?? knowersOf(channel, directory, new Set());
    shared.set(channel.is_web_public, known);
    const isWhole = [...subscribers].every((id) => known.has(id) || !directory.people.has(id));
    return isWhole ? known : knowersOf(channel, directory, subscribers);
  };
}

/** Whether a user can see the channel. For a user who is not replicated yet, only the subscription counts. */
export function knows(
  channel: AccessibleChannel,
  directory: Directory,
  userId: number,
  isSubscribed: boolean,
): boolean {
  const holder = directory.holder(userId);
  return holder ? hasMetadataAccess(channel, holder, isSubscribed) : isSubscribed || channel.is_web_public;
}

export const minus = <T>(from: Iterable<T>, gone: ReadonlySet<T>): T[] => [...from].filter((item) => !gone.has(item));
