import {
  badRequest,
  ChatError,
  type GroupSetting,
  type GroupSettingUpdate,
  maxUsersOfPermission,
  type PermissionSetting,
  roles,
} from '@natter/contracts';

/** The properties of a user that decide permissions. `groupIds`: all groups, directly or through subgroups. */
export interface Holder {
  userId: number;
  role: number;
  groupIds: readonly number[];
}

/** Whether the value includes the user, for any setting. */
export function isIn(value: GroupSetting, { userId, groupIds }: Pick<Holder, 'userId' | 'groupIds'>): boolean {
  if (typeof value === 'number') return groupIds.includes(value);
  return value.direct_members.includes(userId) || value.direct_subgroups.some((id) => groupIds.includes(id));
}

/** Whether the user has the permission. A guest does not have it if the setting excludes guests. */
export function isPermitted(setting: PermissionSetting, value: GroupSetting, holder: Holder): boolean {
  if (holder.role === roles.guest && !setting.allow_everyone_group) return false;
  return isIn(value, holder);
}

/** The canonical form of a value: ids ascending and unique; a single group is its id. */
export function normalized(value: GroupSetting): GroupSetting {
  if (typeof value === 'number') return value;
  const direct_members = ascending(value.direct_members);
  const direct_subgroups = ascending(value.direct_subgroups);
  const [only, ...more] = direct_subgroups;
  if (direct_members.length === 0 && only !== undefined && more.length === 0) return only;
  return { direct_members, direct_subgroups };
}

export const isSameSetting = (a: GroupSetting, b: GroupSetting): boolean =>
  JSON.stringify(normalized(a)) === JSON.stringify(normalized(b));

/** The users that a value names directly. */
export const usersNamed = (value: GroupSetting): readonly number[] =>
  typeof value === 'number' ? [] : value.direct_members;

type Ids = Pick<ReadonlySet<number>, 'has'>;

/** The value as clients get it: without deactivated users. */
export function shownSetting(value: GroupSetting, inactive: Ids): GroupSetting {
  if (typeof value === 'number' || !value.direct_members.some((id) => inactive.has(id))) return value;
  return normalized({ ...value, direct_members: value.direct_members.filter((id) => !inactive.has(id)) });
}

export const shownSettings = <T extends Partial<Record<string, GroupSetting>>>(values: T, inactive: Ids): T =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value && shownSetting(value, inactive)]),
  ) as T;

/**
 * The value to store for an update; undefined if the update changes nothing. Refuses an `old` that is neither the shown nor
 * the stored value. A set keeps the deactivated users of the former value, which clients do not know, so that they have the
 * permission again after a reactivation.
 */
export function updatedSetting(
  stored: GroupSetting,
  update: GroupSettingUpdate | undefined,
  inactive: Ids,
): GroupSetting | undefined {
  if (update === undefined) return undefined;
  const known = [shownSetting(stored, inactive), stored];
  const isKnown = (value: GroupSetting): boolean => known.some((one) => isSameSetting(one, value));
  if (update.old !== undefined && !isKnown(update.old))
    throw new ChatError('EXPECTATION_MISMATCH', "'old' value does not match the expected value.");
  if (isKnown(update.new)) return undefined;
  const value = normalized(update.new);
  if (typeof value === 'number') return value;
  const hidden = usersNamed(stored).filter((id) => inactive.has(id));
  const kept = normalized({ ...value, direct_members: [...value.direct_members, ...hidden] });
  if (usersNamed(kept).length > maxUsersOfPermission)
    throw badRequest(`A permission names at most ${maxUsersOfPermission} users, deactivated ones included`);
  return kept;
}

/** The groups that a value names directly. */
export const groupsNamed = (value: GroupSetting): readonly number[] =>
  typeof value === 'number' ? [value] : value.direct_subgroups;

export interface KnownGroup {
  id: number;
  name: string;
  isSystem: boolean;
  isDeactivated: boolean;
}

/**
 * The public error text if a value cannot be assigned to a setting; undefined if it can. `groups` and `activeUserIds`
 * resolve what the value names.
 */
export function problemOf(
  settingName: string,
  setting: PermissionSetting,
  value: GroupSetting,
  known: { group: (id: number) => KnownGroup | undefined; isActiveUser: (id: number) => boolean },
): string | undefined {
  const written = normalized(value);
  if (typeof written !== 'number') {
    if (setting.require_system_group) return `'${settingName}' must be a system user group.`;
    if (written.direct_members.some((id) => !known.isActiveUser(id))) return 'Invalid user ID';
  }
  for (const id of groupsNamed(written)) {
    const group = known.group(id);
    if (!group) return 'Invalid user group';
    if (group.isDeactivated) return 'User group is deactivated.';
    if (setting.require_system_group && !group.isSystem) return `'${settingName}' must be a system user group.`;
    // A system group that the setting cannot have alone is invalid as a subgroup too.
    if (isForbidden(setting, group)) return `'${settingName}' setting cannot be set to '${group.name}' group.`;
  }
  return undefined;
}

function isForbidden(setting: PermissionSetting, { name, isSystem }: KnownGroup): boolean {
  if (!isSystem) return false;
  if (name === 'role:internet' && !setting.allow_internet_group) return true;
  if (name === 'role:nobody' && !setting.allow_nobody_group) return true;
  if (name === 'role:everyone' && !setting.allow_everyone_group) return true;
  const allowed: readonly string[] = setting.allowed_system_groups;
  return allowed.length > 0 && !allowed.includes(name);
}

const ascending = (ids: readonly number[]): number[] => [...new Set(ids)].sort((a, b) => a - b);
