import { type ChannelPermission, type ChannelPermissions, channelPermissions, roles } from '@natter/contracts';
import { type Holder, isPermitted } from './group-setting.ts';

/** The properties of a channel that decide access to it. */
export interface AccessibleChannel {
  is_private: boolean;
  is_web_public: boolean;
  permissions: ChannelPermissions;
}

const permits = (channel: AccessibleChannel, name: ChannelPermission, holder: Holder): boolean =>
  isPermitted(channelPermissions[name], channel.permissions[name], holder);

/** Whether the user may read the channel's messages. Administrators have no special access to a private channel. */
export function hasContentAccess(channel: AccessibleChannel, holder: Holder, isSubscribed: boolean): boolean {
  if (isSubscribed || channel.is_web_public) return true;
  if (holder.role === roles.guest) return false;
  if (!channel.is_private) return true;
  return permits(channel, 'can_subscribe_group', holder) || permits(channel, 'can_add_subscribers_group', holder);
}

/** Whether the user may see the channel, its settings and its subscribers. To all others it does not exist. */
export function hasMetadataAccess(channel: AccessibleChannel, holder: Holder, isSubscribed: boolean): boolean {
  if (holder.role <= roles.administrator || hasContentAccess(channel, holder, isSubscribed)) return true;
  return permits(channel, 'can_administer_channel_group', holder);
}

/** Administrators of the realm and of the channel. */
export function mayAdminister(channel: AccessibleChannel, holder: Holder, isSubscribed: boolean): boolean {
  if (!hasMetadataAccess(channel, holder, isSubscribed)) return false;
  return holder.role <= roles.administrator || permits(channel, 'can_administer_channel_group', holder);
}

/** The permissions that make a private channel visible to users who are not subscribed to it. */
export const revealingPermissions = [
  'can_administer_channel_group',
  'can_subscribe_group',
  'can_add_subscribers_group',
] as const satisfies ChannelPermission[];
