import { z } from 'zod';
import { id, string } from '../bounded.ts';
import { operation } from '../operation.ts';
import { bool, idList, ids, int, json, text } from '../param.ts';
import {
  type GroupPermission,
  groupPermissions,
  groupSettingSchema,
  groupSettingUpdateSchema,
} from '../permission-settings.ts';

/** The fetch types of a register that tell of groups; clients also ask by the name of the event. */
export const groupFetchTypes: readonly string[] = ['realm_user_groups', 'user_group'];

const permissionNames = Object.keys(groupPermissions) as GroupPermission[];
const perPermission = <T>(value: T): Record<GroupPermission, T> =>
  Object.fromEntries(permissionNames.map((name) => [name, value])) as Record<GroupPermission, T>;
const optionalValue = json(groupSettingSchema.optional());
const optionalUpdate = json(groupSettingUpdateSchema.optional());

/** Specification 2.12. */
export const userGroupSchema = z.object({
  id: int,
  name: z.string(),
  description: z.string(),
  date_created: int.nullable(),
  creator_id: int.nullable(),
  members: ids,
  direct_subgroup_ids: ids,
  is_system_group: bool,
  deactivated: bool,
  ...perPermission(groupSettingSchema),
});
export type UserGroup = z.infer<typeof userGroupSchema>;

/** Where a group is used; deactivation is refused with the list of them. */
export const groupUseSchema = z.union([
  z.object({ type: z.literal('realm'), settings: z.array(z.string()) }),
  z.object({ type: z.literal('subgroup'), supergroup_ids: ids }),
  z.object({ type: z.literal('user_group'), group_id: int, settings: z.array(z.string()) }),
  z.object({ type: z.literal('channel'), channel_id: int, settings: z.array(z.string()) }),
]);
export type GroupUse = z.infer<typeof groupUseSchema>;

/**
 * The version that every service bumps when it puts a group that can be deactivated to use. A deactivation rests on it as it was
 * before it asked around, and bumps `groups`, on which each new use rests: of the two that race one decides anew.
 */
export const groupUsesKey = 'group-uses';

const user_group_id = json(id);
const path = '/user_groups/{user_group_id}';
const errors = ['BAD_REQUEST'] as const;
const events = ['user_group'] as const;

export const groupOperations = {
  getUserGroups: operation({
    name: 'get-user-groups',
    service: 'users',
    http: { method: 'GET', path: '/user_groups' },
    cost: 2,
    summary: 'All user groups, system groups first.',
    params: { include_deactivated_groups: json(bool.default(false)) },
    result: z.object({ user_groups: z.array(userGroupSchema) }),
  }),
  createUserGroup: operation({
    name: 'create-user-group',
    service: 'users',
    http: { method: 'POST', path: '/user_groups/create' },
    summary: 'Create a user group.',
    cost: 3,
    params: {
      name: text(string(1_000)),
      description: text(string(5_000)),
      members: json(idList(20_000)),
      subgroups: json(idList(20_000).default([])),
      ...perPermission(optionalValue),
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
    params: {
      user_group_id,
      name: text(string(1_000).optional()),
      description: text(string(5_000).optional()),
      deactivated: json(bool.optional()),
      ...perPermission(optionalUpdate),
    },
    errors: ['BAD_REQUEST', 'EXPECTATION_MISMATCH', 'CANNOT_DEACTIVATE_GROUP_IN_USE'],
    events,
  }),
  deactivateUserGroup: operation({
    name: 'deactivate-user-group',
    service: 'users',
    http: { method: 'POST', path: `${path}/deactivate` },
    summary: 'Deactivate a user group that is not used (specification 4.20).',
    params: { user_group_id },
    errors: ['BAD_REQUEST', 'CANNOT_DEACTIVATE_GROUP_IN_USE'],
    events,
  }),
  removeUserGroup: operation({
    name: 'remove-user-group',
    service: 'users',
    http: { method: 'DELETE', path },
    summary: 'The older name of deactivating a user group.',
    params: { user_group_id },
    errors: ['BAD_REQUEST', 'CANNOT_DEACTIVATE_GROUP_IN_USE'],
    events,
  }),
  getUserGroupMembers: operation({
    name: 'get-user-group-members',
    service: 'users',
    http: { method: 'GET', path: `${path}/members` },
    summary: 'Members of a user group, through subgroups too unless told otherwise.',
    params: { user_group_id, direct_member_only: json(bool.default(false)) },
    result: z.object({ members: ids }),
    errors,
  }),
  updateUserGroupMembers: operation({
    name: 'update-user-group-members',
    service: 'users',
    http: { method: 'POST', path: `${path}/members` },
    summary: 'Add and remove members and subgroups.',
    cost: 3,
    params: {
      user_group_id,
      add: json(idList(20_000).default([])),
      delete: json(idList(20_000).default([])),
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
    summary: 'Subgroups of a user group, and theirs unless told otherwise.',
    params: { user_group_id, direct_subgroup_only: json(bool.default(false)) },
    result: z.object({ subgroups: ids }),
    errors,
  }),
  updateSubgroups: operation({
    name: 'update-subgroups',
    service: 'users',
    http: { method: 'POST', path: `${path}/subgroups` },
    summary: 'Add and remove subgroups (specification 4.16).',
    cost: 3,
    params: { user_group_id, add: json(idList(20_000).default([])), delete: json(idList(20_000).default([])) },
    errors,
    events,
  }),
  getGroupUses: operation({
    name: 'get-group-uses',
    service: 'channels',
    caller: 'anyone',
    callers: ['users'],
    summary: 'The channels whose permissions name a group. Bus only.',
    params: { group_id: json(id) },
    result: z.object({ objections: z.array(groupUseSchema) }),
    isReadOnly: true,
    deadlineMs: 5_000,
  }),
};
