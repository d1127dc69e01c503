import {
  badRequest,
  type ChannelPermission,
  type ChannelPermissions,
  channelPermissions,
  type GroupSetting,
  groupUsesKey,
  insufficientPermission,
  keysOf,
  recordOf,
  type SystemGroupName,
} from '@natter/contracts';
import { readVersions, VersionsChanged, type Work } from '@natter/database';
import { groupsNamed, normalized, problemOf, usersNamed } from '@natter/permissions';
import { type Decision, maySetPolicy } from './deciding.ts';
import { isBehind } from './directory/behind.ts';

export const channelPermissionNames = keysOf(channelPermissions);

/** Setting these requires the realm's permission to set who may delete messages. */
const deletePermissions: readonly ChannelPermission[] = [
  'can_delete_any_message_group',
  'can_delete_own_message_group',
];

export type GivenPermissions = Partial<Record<ChannelPermission, GroupSetting | undefined>>;

/** The permissions of a new channel for which the creator names none. */
export function defaultPermissions(
  systemGroups: Readonly<Record<SystemGroupName, number>>,
  creatorId: number,
): ChannelPermissions {
  return recordOf(channelPermissionNames, (name): GroupSetting => {
    const { default_group_name } = channelPermissions[name];
    return default_group_name === 'stream_creator_or_nobody'
      ? { direct_members: [creatorId], direct_subgroups: [] }
      : systemGroups[default_group_name];
  });
}

/**
 * The value of a permission that named only groups that were deactivated. No user gains the permission by it.
 * Administrators have the other permissions in any case, or must not get them: some of them open private channels.
 */
const fallbackOf = (name: ChannelPermission): SystemGroupName =>
  name === 'can_send_message_group' || name === 'can_remove_subscribers_group' ? 'role:administrators' : 'role:nobody';

/**
 * The permissions of a channel that becomes active again, without groups that were deactivated meanwhile: archived channels
 * do not keep groups from being deactivated.
 */
export async function withoutInactiveGroups(
  decision: Decision,
  permissions: ChannelPermissions,
): Promise<GivenPermissions> {
  const { work, directory, policy } = decision;
  await expectGroupVersions(work);
  const isActive = (id: number): boolean => directory.groups.get(id)?.isActive ?? true;
  const values = channelPermissionNames.map((name) => {
    const value = permissions[name];
    if (groupsNamed(value).every(isActive)) return [name, value] as const;
    const direct_members = typeof value === 'number' ? [] : value.direct_members;
    const direct_subgroups = groupsNamed(value).filter(isActive);
    const isEmpty = direct_members.length + direct_subgroups.length === 0;
    const left = isEmpty ? policy.system_groups[fallbackOf(name)] : normalized({ direct_members, direct_subgroups });
    return [name, left] as const;
  });
  noteAssignment(decision, values);
  return Object.fromEntries(values);
}

/**
 * The values to store; refuses values that a setting does not accept or the actor may not assign. Users whom the stored values
 * name are accepted.
 */
export async function checkedPermissions(
  decision: Decision,
  given: GivenPermissions,
  stored?: ChannelPermissions,
): Promise<GivenPermissions> {
  const values = channelPermissionNames.flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [[name, normalized(value)] as const];
  });
  if (values.length === 0) return {};
  await expectGroupVersions(decision.work);
  for (const [name, value] of values) {
    const former = stored ? usersNamed(stored[name]) : [];
    const problem = problemOf(name, channelPermissions[name], value, knownTo(decision, new Set(former)));
    if (problem) throw badRequest(problem);
    if (deletePermissions.includes(name) && !maySetPolicy(decision, 'can_set_delete_message_policy_group'))
      throw insufficientPermission();
  }
  noteAssignment(decision, values);
  return Object.fromEntries(values);
}

function noteAssignment(
  { work, directory }: Decision,
  values: readonly (readonly [ChannelPermission, GroupSetting])[],
): void {
  const named = values.flatMap(([, value]) => groupsNamed(value));
  if (named.some((id) => directory.groups.get(id)?.isSystem === false)) work.bump(groupUsesKey);
}

/**
 * Groups are looked up in this service's projection, so it must be as new as the version that the commit compares: a
 * group that is deactivated meanwhile is never assigned to a channel.
 */
async function expectGroupVersions(work: Work): Promise<void> {
  const versions = await readVersions(work, work.realmId, ['groups']);
  if (await isBehind(work, work.realmId)) throw new VersionsChanged('groups');
  work.expectVersions(versions);
}

const knownTo = ({ directory, actor, policy }: Decision, former: ReadonlySet<number>) => ({
  group: (id: number) => {
    const group = directory.groups.get(id);
    if (group) return { id, name: group.name, isSystem: group.isSystem, isDeactivated: !group.isActive };
    const system = Object.entries(policy.system_groups).find(([, known]) => known === id);
    return system && { id, name: system[0], isSystem: true, isDeactivated: false };
  },
  isActiveUser: (id: number) => id === actor.userId || former.has(id) || directory.isNameable(id),
});
