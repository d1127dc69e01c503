import { entriesOf, type GroupSetting, type RealmSettingValues, type SystemGroupName } from '@natter/contracts';
import type { Realm } from './read-realm.ts';

/** Deprecated names of settings that clients still read. */
export const settingMirrors = (settings: RealmSettingValues) => ({
  allow_edit_history: settings.message_edit_history_visibility_policy !== 'none',
  mandatory_topics: settings.topics_policy === 'disable_empty_topic',
});

export const settingMirrorNames = ['allow_edit_history', 'mandatory_topics'] as const;

type Mirrors = { [N in (typeof settingMirrorNames)[number]]?: boolean | undefined };

/** The settings that deprecated names change; a mirror that already has the value changes nothing. */
export function settingsOfMirrors(current: RealmSettingValues, given: Mirrors): Partial<RealmSettingValues> {
  const before = settingMirrors(current);
  const {
    allow_edit_history: history = before.allow_edit_history,
    mandatory_topics: topics = before.mandatory_topics,
  } = given;
  return {
    ...(history === before.allow_edit_history
      ? {}
      : { message_edit_history_visibility_policy: history ? 'all' : 'none' }),
    ...(topics === before.mandatory_topics
      ? {}
      : { topics_policy: topics ? 'disable_empty_topic' : 'allow_empty_topic' }),
  };
}

/** Deprecated numeric values of permissions; a group without a number maps to the widest permitted one. */
export function permissionMirrors({ permissions, systemGroups }: Realm) {
  const names = new Map(entriesOf(systemGroups).map(([name, id]) => [id, name]));
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
export const permissionMirrorNames = [
  'create_public_stream_policy',
  'create_private_stream_policy',
  'create_web_public_stream_policy',
  'wildcard_mention_policy',
] as const;
