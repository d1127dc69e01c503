import { z } from 'zod';
import { id, string } from '../model/bounded.ts';
import { keysOf, recordOf } from '../model/keys.ts';
import { operation } from '../model/operation.ts';
import { bool, idList, ids, int, json, text } from '../model/param.ts';
import { type GroupPermission, groupSettingSchema, groupSettingUpdateSchema } from '../model/permission-settings.ts';
import { groupPermissionMeanings } from '../vocabulary/permissions.ts';

/** The fetch types of user groups. Clients also use the name of the event. */
export const groupFetchTypes: readonly string[] = ['realm_user_groups', 'user_group'];

const perPermission = <T>(make: (meaning: string) => T): Record<GroupPermission, T> =>
  recordOf(keysOf(groupPermissionMeanings), (name) => make(groupPermissionMeanings[name]));

/** A user group with the value of each of its permissions. */
export const userGroupSchema = z.object({
  id: int.describe('The ID of the user group.'),
  name: z.string().describe('The name of the group. Names of system groups begin with `role:`.'),
  description: z.string(),
  date_created: int.nullable(),
  creator_id: int.nullable(),
  members: ids.describe('The user IDs of the direct members.'),
  direct_subgroup_ids: ids,
  is_system_group: bool,
  deactivated: bool,
  ...perPermission((meaning) => groupSettingSchema.describe(meaning)),
});
export type UserGroup = z.infer<typeof userGroupSchema>;

/** A use of a group. A deactivation of the group is refused with the list of its uses. */
const groupUseSchema = z.union([
  z.object({ type: z.literal('realm'), settings: z.array(z.string()) }),
  z.object({ type: z.literal('subgroup'), supergroup_ids: ids }),
  z.object({ type: z.literal('user_group'), group_id: int, settings: z.array(z.string()) }),
  /** Without an ID and settings: at least one channel that the caller cannot see. */
  z.object({ type: z.literal('channel'), channel_id: int.optional(), settings: z.array(z.string()) }),
]);
export type GroupUse = z.infer<typeof groupUseSchema>;

/**
 * Every service bumps this version when it begins to use a group, for example in a permission. A deactivation reads the
 * version, requests the uses from all services, and expects the version at its commit; it bumps `groups`, which every new use
 * expects. So if a deactivation and a new use are concurrent, one of them is decided again.
 */
export const groupUsesKey = 'group-uses';

/** The number of members that have the weight of one request; the version of each member's rights is bumped. */
const membersPerUnit = 200;

/** The added weight of a deactivation, which searches the permissions of all channels and groups. */
const usesWeight = 4;
/** The added weight of a change that concerns all members of a group: its reactivation, and a change of subgroups. */
const membersWeight = 9;
const subgroupsWeight = (...lists: (readonly number[])[]): number =>
  lists.some(({ length }) => length > 0) ? membersWeight : 0;

const user_group_id = json(id);
const path = '/user_groups/{user_group_id}';
const errors = ['BAD_REQUEST'] as const;
const events = ['user_group'] as const;

export const groupOperations = {
  getUserGroups: operation({
    name: 'get-user-groups',
    service: 'users',
    http: { method: 'GET', path: '/user_groups' },
    weight: 2,
    summary: 'All user groups, system groups first.',
    params: { include_deactivated_groups: json(bool.default(false)) },
    result: z.object({ user_groups: z.array(userGroupSchema) }),
  }),
  createUserGroup: operation({
    name: 'create-user-group',
    service: 'users',
    http: { method: 'POST', path: '/user_groups/create' },
    permission: 'can_create_groups',
    summary: 'Create a user group.',
    weight: 3,
    weigh: ({ members, subgroups }) =>
      (members.length + subgroups.length) / membersPerUnit + subgroupsWeight(subgroups),
    params: {
      name: text(string(1_000).describe('The name of the group, at most 100 characters.')),
      description: text(string(5_000)),
      members: json(idList(20_000).describe('The IDs of the users who are direct members.')),
      subgroups: json(idList(20_000).default([]).describe('The IDs of the groups that are direct subgroups.')),
      ...perPermission((meaning) => json(groupSettingSchema.describe(meaning).optional())),
    },
    result: z.object({ group_id: int }),
    errors,
    events,
  }),
  updateUserGroup: operation({
    name: 'update-user-group',
    service: 'users',
    http: { method: 'PATCH', path },
    summary: 'Rename a user group, change its description or permissions, or bring it back.',
    weigh: ({ deactivated }) => (deactivated === undefined ? 0 : deactivated ? usesWeight : membersWeight),
    params: {
      user_group_id,
      name: text(string(1_000).describe('The new name of the group, at most 100 characters.').optional()),
      description: text(string(5_000).optional()),
      deactivated: json(bool.describe('`false` brings a deactivated group back.').optional()),
      ...perPermission((meaning) => json(groupSettingUpdateSchema.describe(meaning).optional())),
    },
    errors: ['BAD_REQUEST', 'EXPECTATION_MISMATCH', 'CANNOT_DEACTIVATE_GROUP_IN_USE'],
    events,
  }),
  deactivateUserGroup: operation({
    name: 'deactivate-user-group',
    service: 'users',
    http: { method: 'POST', path: `${path}/deactivate` },
    summary: 'Deactivate a user group that is not used.',
    weight: 1 + usesWeight,
    params: { user_group_id },
    errors: ['BAD_REQUEST', 'CANNOT_DEACTIVATE_GROUP_IN_USE'],
    events,
  }),
  removeUserGroup: operation({
    name: 'remove-user-group',
    service: 'users',
    http: { method: 'DELETE', path },
    summary: 'The older name of deactivating a user group.',
    weight: 1 + usesWeight,
    params: { user_group_id },
    errors: ['BAD_REQUEST', 'CANNOT_DEACTIVATE_GROUP_IN_USE'],
    events,
  }),
  getUserGroupMembers: operation({
    name: 'get-user-group-members',
    service: 'users',
    http: { method: 'GET', path: `${path}/members` },
    summary: 'Members of a user group; by default including those of its subgroups.',
    params: { user_group_id, direct_member_only: json(bool.default(false)) },
    result: z.object({ members: ids.describe('The user IDs of the members.') }),
    errors,
  }),
  updateUserGroupMembers: operation({
    name: 'update-user-group-members',
    service: 'users',
    http: { method: 'POST', path: `${path}/members` },
    summary: 'Add and remove members and subgroups.',
    weight: 3,
    weigh: ({ add, delete: removed, add_subgroups, delete_subgroups }) =>
      (add.length + removed.length + add_subgroups.length + delete_subgroups.length) / membersPerUnit +
      subgroupsWeight(add_subgroups, delete_subgroups),
    params: {
      user_group_id,
      add: json(idList(20_000).default([]).describe('The IDs of the users to add.')),
      delete: json(idList(20_000).default([]).describe('The IDs of the users to remove.')),
      add_subgroups: json(idList(20_000).default([])),
      delete_subgroups: json(idList(20_000).default([])),
    },
    errors,
    events,
  }),
  isUserGroupMember: operation({
    name: 'is-user-group-member',
    service: 'users',
    http: { method: 'GET', path: `${path}/members/{user_id}` },
    summary: 'Whether a user is in a user group.',
    params: { user_group_id, user_id: json(id), direct_member_only: json(bool.default(false)) },
    result: z.object({ is_user_group_member: bool }),
    errors,
  }),
  getSubgroups: operation({
    name: 'get-subgroups',
    service: 'users',
    http: { method: 'GET', path: `${path}/subgroups` },
    summary: 'Subgroups of a user group; by default including those of the subgroups.',
    params: { user_group_id, direct_subgroup_only: json(bool.default(false)) },
    result: z.object({ subgroups: ids.describe('The IDs of the subgroups.') }),
    errors,
  }),
  updateSubgroups: operation({
    name: 'update-subgroups',
    service: 'users',
    http: { method: 'POST', path: `${path}/subgroups` },
    summary: 'Add and remove subgroups.',
    weight: 3,
    weigh: ({ add, delete: removed }) => (add.length + removed.length) / membersPerUnit + subgroupsWeight(add, removed),
    params: {
      user_group_id,
      add: json(idList(20_000).default([]).describe('The IDs of the groups to add as subgroups.')),
      delete: json(idList(20_000).default([]).describe('The IDs of the groups to remove from the subgroups.')),
    },
    errors,
    events,
  }),
  getGroupUses: operation({
    name: 'get-group-uses',
    service: 'channels',
    caller: 'internal',
    callers: ['users'],
    summary: 'The channels whose permissions name a group. Bus only.',
    params: { group_id: json(id) },
    result: z.object({ objections: z.array(groupUseSchema) }),
    isReadOnly: true,
  }),
};
