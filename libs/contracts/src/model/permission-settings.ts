import type { z } from 'zod';
import { id, object, union } from './bounded.ts';
import { idList } from './param.ts';

/** Users that the value of a permission may name. */
export const maxUsersOfPermission = 20_000;

/** The value of a permission: the id of a group, or a list of users and direct subgroups. */
export const groupSettingSchema = union([
  id,
  object({ direct_members: idList(maxUsersOfPermission), direct_subgroups: idList(1_000) }),
]);
export type GroupSetting = z.infer<typeof groupSettingSchema>;

/** The form of a change: the new value, and optionally the old one, which must match the current value. */
export const groupSettingUpdateSchema = object({ new: groupSettingSchema, old: groupSettingSchema.optional() });
export type GroupSettingUpdate = z.infer<typeof groupSettingUpdateSchema>;

export const systemGroupNames = [
  'role:nobody',
  'role:owners',
  'role:administrators',
  'role:moderators',
  'role:fullmembers',
  'role:members',
  'role:everyone',
  'role:internet',
] as const;
export type SystemGroupName = (typeof systemGroupNames)[number];

/** The values that a permission setting accepts, as clients read them in `server_supported_permission_settings`. */
export interface PermissionSetting {
  require_system_group: boolean;
  allow_internet_group: boolean;
  allow_nobody_group: boolean;
  /** If false, guests never have the permission, even as members of a permitted group. */
  allow_everyone_group: boolean;
  /** The default: a group, or the creator. The name for a channel's creator is that of this feature level. */
  default_group_name: SystemGroupName | 'stream_creator_or_nobody' | 'group_creator';
  default_for_system_groups: SystemGroupName | null;
  /** Empty: no restriction to certain system groups. */
  allowed_system_groups: readonly SystemGroupName[];
}

type Rules = Partial<Omit<PermissionSetting, 'default_group_name'>>;
const setting = <D extends PermissionSetting['default_group_name']>(
  default_group_name: D,
  rules: Rules = {},
): PermissionSetting & { default_group_name: D } => ({
  require_system_group: false,
  allow_internet_group: false,
  allow_nobody_group: true,
  allow_everyone_group: false,
  default_group_name,
  default_for_system_groups: null,
  allowed_system_groups: [],
  ...rules,
});
const withGuests: Rules = { allow_everyone_group: true };

export const realmPermissions = {
  create_multiuse_invite_group: setting('role:administrators'),
  can_access_all_users_group: setting('role:everyone', {
    ...withGuests,
    require_system_group: true,
    allow_nobody_group: false,
    allowed_system_groups: ['role:everyone', 'role:members'],
  }),
  can_add_custom_emoji_group: setting('role:members'),
  can_add_subscribers_group: setting('role:members'),
  can_create_bots_group: setting('role:members'),
  can_create_write_only_bots_group: setting('role:members'),
  can_create_groups: setting('role:members'),
  can_create_private_channel_group: setting('role:members'),
  can_create_public_channel_group: setting('role:members'),
  can_create_web_public_channel_group: setting('role:owners', {
    require_system_group: true,
    allowed_system_groups: ['role:moderators', 'role:administrators', 'role:owners', 'role:nobody'],
  }),
  can_delete_any_message_group: setting('role:administrators'),
  can_delete_own_message_group: setting('role:everyone', withGuests),
  can_invite_users_group: setting('role:members'),
  can_manage_all_groups: setting('role:owners'),
  can_manage_billing_group: setting('role:administrators'),
  can_mention_many_users_group: setting('role:administrators', withGuests),
  can_move_messages_between_channels_group: setting('role:members'),
  can_move_messages_between_topics_group: setting('role:everyone', withGuests),
  can_resolve_topics_group: setting('role:everyone', withGuests),
  can_set_delete_message_policy_group: setting('role:moderators'),
  can_set_topics_policy_group: setting('role:members'),
  can_summarize_topics_group: setting('role:everyone', withGuests),
  direct_message_initiator_group: setting('role:everyone', withGuests),
  direct_message_permission_group: setting('role:everyone', withGuests),
} as const satisfies Record<string, PermissionSetting>;
export type RealmPermission = keyof typeof realmPermissions;

/** The permissions of a realm that only owners may change. */
export const ownersPermissions: ReadonlySet<RealmPermission> = new Set([
  'create_multiuse_invite_group',
  'can_create_groups',
  'can_invite_users_group',
  'can_manage_all_groups',
  'can_manage_billing_group',
]);

export const channelPermissions = {
  can_add_subscribers_group: setting('role:nobody'),
  can_administer_channel_group: setting('stream_creator_or_nobody'),
  can_delete_any_message_group: setting('role:nobody', withGuests),
  can_delete_own_message_group: setting('role:nobody', withGuests),
  can_move_messages_out_of_channel_group: setting('role:nobody', withGuests),
  can_move_messages_within_channel_group: setting('role:nobody', withGuests),
  can_remove_subscribers_group: setting('role:administrators', withGuests),
  can_resolve_topics_group: setting('role:nobody', withGuests),
  can_send_message_group: setting('role:everyone', withGuests),
  can_subscribe_group: setting('role:nobody'),
} as const satisfies Record<string, PermissionSetting>;
export type ChannelPermission = keyof typeof channelPermissions;

export const groupPermissions = {
  can_add_members_group: setting('group_creator', { default_for_system_groups: 'role:nobody' }),
  can_manage_group: setting('group_creator', { default_for_system_groups: 'role:nobody' }),
  can_join_group: setting('role:nobody', { default_for_system_groups: 'role:nobody' }),
  can_remove_members_group: setting('role:nobody', { default_for_system_groups: 'role:nobody' }),
  can_leave_group: setting('role:everyone', { ...withGuests, default_for_system_groups: 'role:nobody' }),
  can_mention_group: setting('role:everyone', { ...withGuests, default_for_system_groups: 'role:nobody' }),
} as const satisfies Record<string, PermissionSetting>;
export type GroupPermission = keyof typeof groupPermissions;
