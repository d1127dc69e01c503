import type { GroupSetting, RealmSettingValues, SystemGroupName } from '@natter/contracts';
import type { Realm } from './read-realm.ts';

/** Older names for what a setting says; clients still read them. */
export const settingMirrors = (settings: RealmSettingValues): Record<string, unknown> => ({
  allow_edit_history: settings.message_edit_history_visibility_policy !== 'none',
  mandatory_topics: settings.topics_policy === 'disable_empty_topic',
});

/** Numbers that once named who has a permission; a group that has no number counts as the widest it may hold. */
export function permissionMirrors({ permissions, systemGroups }: Realm): Record<string, number> {
  const names = new Map(Object.entries(systemGroups).map(([name, id]) => [id, name as SystemGroupName]));
  const number = (value: GroupSetting, numbers: Partial<Record<SystemGroupName, number>>, otherwise: number): number =>
    numbers[(typeof value === 'number' && names.get(value)) || 'role:internet'] ?? otherwise;
  const creators = {
    'role:members': 1,
    'role:administrators': 2,
    'role:fullmembers': 3,
    'role:moderators': 4,
    'role:nobody': 6,
    'role:owners': 7,
  };
  return {
    create_public_stream_policy: number(permissions.can_create_public_channel_group, creators, 1),
    create_private_stream_policy: number(permissions.can_create_private_channel_group, creators, 1),
    create_web_public_stream_policy: number(permissions.can_create_web_public_channel_group, creators, 7),
    wildcard_mention_policy: number(
      permissions.can_mention_many_users_group,
      {
        'role:everyone': 1,
        'role:members': 2,
        'role:fullmembers': 3,
        'role:administrators': 5,
        'role:owners': 5,
        'role:nobody': 6,
        'role:moderators': 7,
      },
      1,
    ),
  };
}
