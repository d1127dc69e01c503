import { channelPermissions } from '@natter/contracts';
import { type Holder, hasContentAccess, hasMetadataAccess, isPermitted, mayAdminister } from '@natter/permissions';
import type { ChannelRow } from './channel-row.ts';
import { type Decision, hasRealmPermission } from './deciding.ts';
import { isOwnBot } from './principals.ts';

/** A locked channel with its subscribers. */
export interface Entered {
  channel: ChannelRow;
  subscribers: ReadonlySet<number>;
}

/** The result of an attempt to subscribe users to a channel. */
export type Verdict = 'allowed' | 'no access' | 'no permission';

export function mayAdd(decision: Decision, { channel, subscribers }: Entered, principals: readonly number[]): Verdict {
  const { actor, directory } = decision;
  const isSubscribed = subscribers.has(actor.userId);
  if (!hasContentAccess(channel, actor, isSubscribed)) return 'no access';
  const others = principals.filter((id) => id !== actor.userId && !isOwnBot(directory.people.get(id), actor));
  if (others.every((id) => subscribers.has(id))) return 'allowed';
  return mayAddOthers(decision, channel, isSubscribed) ? 'allowed' : 'no permission';
}

export const mayAddOthers = (
  decision: Pick<Decision, 'actor' | 'policy'>,
  channel: ChannelRow,
  isSubscribed: boolean,
): boolean =>
  hasRealmPermission(decision, 'can_add_subscribers_group') || mayAddByChannel(channel, decision.actor, isSubscribed);

/** Whether the holder may add others to this channel by its own permissions, regardless of the realm's. */
export const mayAddByChannel = (channel: ChannelRow, holder: Holder, isSubscribed: boolean): boolean =>
  mayAdminister(channel, holder, isSubscribed) ||
  isPermitted(channelPermissions.can_add_subscribers_group, channel.permissions.can_add_subscribers_group, holder);

/**
 * All users may unsubscribe themselves. Others are removed by administrators, by users whom the channel permits, and
 * own bots by their owner.
 */
export function mayRemove(
  { actor, directory }: Decision,
  { channel, subscribers }: Entered,
  principals: readonly number[],
): boolean {
  const isSubscribed = subscribers.has(actor.userId);
  const others = principals.filter((id) => id !== actor.userId && !isOwnBot(directory.people.get(id), actor));
  if (others.length === 0) return true;
  if (!hasMetadataAccess(channel, actor, isSubscribed)) return false;
  return (
    mayAdminister(channel, actor, isSubscribed) ||
    isPermitted(
      channelPermissions.can_remove_subscribers_group,
      channel.permissions.can_remove_subscribers_group,
      actor,
    )
  );
}
