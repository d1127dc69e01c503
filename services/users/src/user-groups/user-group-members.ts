import { badRequest, groupOperations, insufficientPermission } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import {
  lockGroup,
  mayAddMembers,
  mayInGroup,
  mayManage,
  requireGroup,
  requireManager,
} from '../model/access-group.ts';
import { changeOfGroups } from '../model/change.ts';
import { emitGroup } from '../model/group-events.ts';
import { checkedUsers, insertMembers } from '../model/group-members.ts';
import { type GroupRow, withoutHidden } from '../model/group-row.ts';
import { bumpMembers } from '../model/membership.ts';
import { expectRealm } from '../model/permits.ts';
import { requireRoomForMembers } from '../model/room-for-groups.ts';
import { hiddenFrom } from '../model/user-visibility.ts';
import { changeSubgroups } from './subgroups.ts';

const idRow = z.object({ id: z.number() });

export function memberHandlers(owner: Owner): Handlers {
  const { database } = owner;
  return [
    handle(groupOperations.getUserGroupMembers, async ({ actor }, { user_group_id, direct_member_only }) => {
      const group = await requireGroup(database, actor.realmId, user_group_id);
      const members = direct_member_only ? group.members : await membersWithin(database, group.id);
      return withoutHidden({ members }, await hiddenFrom(database, actor.realmId, actor));
    }),

    handle(groupOperations.isUserGroupMember, async ({ actor }, { user_group_id, user_id, direct_member_only }) => {
      const group = await requireGroup(database, actor.realmId, user_group_id);
      const user = await database.maybeOne(
        sql.type(
          idRow,
        )`SELECT id FROM users.account WHERE realm_id = ${actor.realmId} AND id = ${user_id} AND NOT is_system_bot`,
      );
      if (!user || (await hiddenFrom(database, actor.realmId, actor)).has(user_id))
        throw badRequest(`Invalid user ID ${user_id}`);
      const members = direct_member_only ? group.members : await membersWithin(database, group.id);
      return { is_user_group_member: members.includes(user_id) };
    }),

    handleWrite(groupOperations.updateUserGroupMembers, async (context, params) => {
      const { add, delete: removed, add_subgroups, delete_subgroups } = params;
      if (add.length + removed.length + add_subgroups.length + delete_subgroups.length === 0)
        throw badRequest(
          'Nothing to do. Specify at least one of "add", "delete", "add_subgroups" or "delete_subgroups".',
        );
      return changeOfGroups(context, async (work, holder) => {
        const group = await lockGroup(work, params.user_group_id);
        const isAdding = add.length + add_subgroups.length > 0;
        if (removed.length > 0) await removeMembers(work, group, holder, removed);
        if (add.length > 0) await addMembers(work, group, holder, add);
        if (add_subgroups.length + delete_subgroups.length > 0) {
          await requireManager(work, group, holder);
          await changeSubgroups(work, group, { add: add_subgroups, delete: delete_subgroups });
        }
        if (isAdding) await requireRoomForMembers(work, context.actor, group.id);
        return {};
      });
    }),
  ];
}

async function addMembers(work: Work, group: GroupRow, holder: Holder, ids: readonly number[]): Promise<void> {
  const isJoining = ids.every((id) => id === holder.userId) && mayInGroup(group, 'can_join_group', holder);
  if (!isJoining && !mayAddMembers(await expectRealm(work), group, holder)) throw insufficientPermission();
  const users = await checkedUsers(work, ids);
  const members = new Set(group.members);
  const already = users.find((id) => members.has(id));
  if (already !== undefined) throw badRequest(`User ${already} is already a member of this group`);
  await insertMembers(work, group.id, users);
  bumpMembers(work, users);
  emitGroup(work, group, {
    type: 'user_group',
    op: 'add_members',
    body: { group_id: group.id, user_ids: users },
    audience: 'realm',
    note: { added: { by: holder.userId, user_ids: users.filter((id) => id !== holder.userId) } },
  });
}

async function removeMembers(work: Work, group: GroupRow, holder: Holder, ids: readonly number[]): Promise<void> {
  const isLeaving = ids.every((id) => id === holder.userId) && mayInGroup(group, 'can_leave_group', holder);
  if (
    !isLeaving &&
    !mayInGroup(group, 'can_remove_members_group', holder) &&
    !(await mayManage(() => expectRealm(work), group, holder))
  )
    throw insufficientPermission();
  const members = new Set(group.members);
  const missing = ids.find((id) => !members.has(id));
  if (missing !== undefined) throw badRequest(`There is no user '${missing}' in this user group`);
  const users = [...new Set(ids)].sort((a, b) => a - b);
  await work.run(
    sql.unsafe`DELETE FROM users.group_member WHERE group_id = ${group.id} AND user_id = ANY(${sql.array(users, 'int4')})`,
  );
  bumpMembers(work, users);
  emitGroup(work, group, {
    type: 'user_group',
    op: 'remove_members',
    body: { group_id: group.id, user_ids: users },
    audience: 'realm',
    note: { removed: { by: holder.userId, user_ids: users.filter((id) => id !== holder.userId) } },
  });
}

/** Active users in the group, directly or through subgroups that are not deactivated. */
async function membersWithin(executor: Executor, groupId: number): Promise<number[]> {
  const rows = await executor.any(sql.type(idRow)`
    WITH RECURSIVE within (id) AS (
      SELECT ${groupId}::int
      UNION SELECT s.subgroup_id FROM users.group_subgroup s JOIN within w ON s.group_id = w.id
        JOIN users.user_group g ON g.id = s.subgroup_id WHERE NOT g.is_deactivated
    ) SELECT DISTINCT m.user_id AS id FROM within w JOIN users.group_member m ON m.group_id = w.id
      JOIN users.account a ON a.id = m.user_id WHERE a.is_active ORDER BY 1`);
  return rows.map((row) => row.id);
}
