import { badRequest, type GroupPermission, groupPermissions, insufficientPermission, roles } from '@natter/contracts';
import { type Executor, lock, sql, type Work } from '@natter/database';
import { type Holder, isPermitted } from '@natter/permissions';
import { findGroup, type GroupRow, type GroupRules, permissionOf } from './group-row.ts';
import { mayIn } from './holder.ts';
import { expectRealm } from './permits.ts';
import type { Realm } from './read-realm.ts';

export async function requireGroup(executor: Executor, realmId: number, id: number): Promise<GroupRow> {
  const row = await findGroup(executor, realmId, id);
  if (!row) throw badRequest('Invalid user group');
  return row;
}

/** Locks the group of a change until the commit. System groups cannot be changed. */
export async function lockGroup(work: Work, id: number): Promise<GroupRow> {
  await work.run(
    sql.unsafe`SELECT FROM users.user_group WHERE realm_id = ${work.realmId} AND id = ${id} FOR NO KEY UPDATE`,
  );
  const row = await requireGroup(work, work.realmId, id);
  if (row.is_system) throw insufficientPermission();
  return row;
}

export const mayInGroup = (row: GroupRules, name: GroupPermission, holder: Holder): boolean =>
  isPermitted(groupPermissions[name], permissionOf(row, name), holder);

/**
 * Permitted by the group's own permission, or by the realm's for all groups. A unit reads the realm with `expectRealm`.
 */
export async function mayManage(realm: () => Promise<Realm>, row: GroupRules, holder: Holder): Promise<boolean> {
  return mayInGroup(row, 'can_manage_group', holder) || mayIn(await realm(), 'can_manage_all_groups', holder);
}

/** Whether the holder may add members to a group: permitted by the group, or as one of its managers. */
export const mayAddMembers = (realm: Realm, row: GroupRules, holder: Holder): boolean =>
  mayInGroup(row, 'can_add_members_group', holder) ||
  mayInGroup(row, 'can_manage_group', holder) ||
  mayIn(realm, 'can_manage_all_groups', holder);

export async function requireManager(work: Work, row: GroupRow, holder: Holder): Promise<void> {
  if (!(await mayManage(() => expectRealm(work), row, holder))) throw insufficientPermission();
}

/**
 * Throws unless the holder may deactivate and reactivate the group: administrators any group, others those that they
 * manage; nobody a system group.
 */
export async function requireCloser(realm: () => Promise<Realm>, row: GroupRules, holder: Holder): Promise<void> {
  if (row.is_system) throw insufficientPermission();
  if (holder.role > roles.administrator && !(await mayManage(realm, row, holder))) throw insufficientPermission();
}

/** Prevents cycles of groups, including those created by two simultaneous requests. */
export async function holdNesting(work: Work): Promise<void> {
  await lock(work, 'group-nesting');
}
