import {
  type ChannelPermission,
  type ChannelPermissions,
  channelPermissions,
  type GroupSetting,
  type SystemGroupName,
} from '@natter/contracts';

/** What a new channel's permissions are where its creator names none. */
export function defaultPermissions(
  systemGroups: Readonly<Record<SystemGroupName, number>>,
  creatorId: number,
): ChannelPermissions {
  const values = Object.entries(channelPermissions).map(([name, { default_group_name }]): [string, GroupSetting] => [
    name,
    default_group_name === 'channel_creator'
      ? { direct_members: [creatorId], direct_subgroups: [] }
      : systemGroups[default_group_name as SystemGroupName],
  ]);
  return Object.fromEntries(values) as Record<ChannelPermission, GroupSetting>;
}
