import { badRequest, groupOperations, type LogEvent } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { holdNesting, lockGroup, requireGroup, requireManager } from '../model/access-group.ts';
import { changeOfGroups } from '../model/change.ts';
import { emitGroup } from '../model/group-events.ts';
import type { GroupRow } from '../model/group-row.ts';
import { requireRoomForMembers } from '../model/room-for-groups.ts';

const idRow = z.object({ id: z.number() });

export function subgroupHandlers(owner: Owner): Handlers {
  const { database } = owner;
  return [
    handle(groupOperations.getSubgroups, async ({ actor }, { user_group_id, direct_subgroup_only }) => {
      const group = await requireGroup(database, actor.realmId, user_group_id);
      if (direct_subgroup_only) return { subgroups: group.subgroups };
      return { subgroups: await groupsWithin(database, group.id) };
    }),

    handleWrite(groupOperations.updateSubgroups, async (context, params) => {
      if (params.add.length + params.delete.length === 0)
        throw badRequest('Nothing to do. Specify at least one of "add" or "delete".');
      return changeOfGroups(context, async (work, holder) => {
        const group = await lockGroup(work, params.user_group_id);
        await requireManager(work, group, holder);
        await changeSubgroups(work, group, params);
        if (params.add.length > 0) await requireRoomForMembers(work, context.actor, group.id);
        return {};
      });
    }),
  ];
}

const subgroupsChanged = (
  op: 'add_subgroups' | 'remove_subgroups',
  group_id: number,
  ids: readonly number[],
): LogEvent<'user_group/add_subgroups' | 'user_group/remove_subgroups'> => ({
  type: 'user_group',
  op,
  body: { group_id, direct_subgroup_ids: [...new Set(ids)] },
  audience: 'realm',
});

/** Adds and removes subgroups. The group may be deactivated. */
export async function changeSubgroups(
  work: Work,
  group: GroupRow,
  { add, delete: removed }: { add: readonly number[]; delete: readonly number[] },
): Promise<void> {
  const before = new Set(group.subgroups);
  for (const id of removed) if (!before.has(id)) throw badRequest(`User group ${id} is not a subgroup of this group.`);
  if (removed.length > 0) {
    await work.run(
      sql.unsafe`DELETE FROM users.group_subgroup WHERE group_id = ${group.id} AND subgroup_id = ANY(${sql.array([...removed], 'int4')})`,
    );
    emitGroup(work, group, subgroupsChanged('remove_subgroups', group.id, removed));
  }
  for (const id of add) if (before.has(id)) throw badRequest(`User group ${id} is already a subgroup of this group.`);
  if (add.length > 0) {
    await insertSubgroups(work, group.id, add);
    emitGroup(work, group, subgroupsChanged('add_subgroups', group.id, add));
  }
  work.bump('groups');
}

/** Adds groups to a group; refuses groups that do not exist, are deactivated, or would form a cycle. */
export async function insertSubgroups(work: Work, groupId: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await holdNesting(work);
  const usable = await work.any(sql.type(idRow)`
    SELECT id FROM users.user_group WHERE realm_id = ${work.realmId} AND id = ANY(${sql.array([...ids], 'int4')})
      AND NOT is_deactivated AND name <> 'role:nobody' ORDER BY id FOR SHARE`);
  const known = new Set(usable.map((row) => row.id));
  const around = new Set(await groupsAround(work, groupId));
  for (const id of ids) {
    if (!known.has(id)) throw badRequest('Invalid user group');
    if (id === groupId || around.has(id))
      throw badRequest(`User group ${id} cannot be a subgroup of a group that it contains.`);
  }
  await work.run(sql.unsafe`
    INSERT INTO users.group_subgroup (group_id, subgroup_id) SELECT ${groupId}, id FROM unnest(${sql.array([...new Set(ids)], 'int4')}) id`);
}

/** All subgroups, recursively. */
async function groupsWithin(executor: Executor, groupId: number): Promise<number[]> {
  const rows = await executor.any(sql.type(idRow)`
    WITH RECURSIVE within (id) AS (
      SELECT subgroup_id FROM users.group_subgroup WHERE group_id = ${groupId}
      UNION SELECT s.subgroup_id FROM users.group_subgroup s JOIN within w ON s.group_id = w.id
    ) SELECT id FROM within ORDER BY id`);
  return rows.map((row) => row.id);
}

/** All groups that contain a group, directly or through others. */
async function groupsAround(executor: Executor, groupId: number): Promise<number[]> {
  const rows = await executor.any(sql.type(idRow)`
    WITH RECURSIVE around (id) AS (
      SELECT group_id FROM users.group_subgroup WHERE subgroup_id = ${groupId}
      UNION SELECT s.group_id FROM users.group_subgroup s JOIN around a ON s.subgroup_id = a.id
    ) SELECT id FROM around`);
  return rows.map((row) => row.id);
}
