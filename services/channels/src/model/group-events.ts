import type { LogEvent, NamesOf, UserGroup } from '@natter/contracts';
import { inTurns, sql, type Work } from '@natter/database';
import type { Directory, Group } from './directory/directory.ts';
import type { UserSet } from './directory/user-set.ts';

export type GroupEvent = LogEvent<NamesOf<'user_group'>>;

/** New and former effective members, by group. */
export type GroupChange = ReadonlyMap<number, { gained: UserSet; lost: UserSet }>;

/** Applies an event of a group to the tables and the directory; undefined if it affects no group's members. */
export async function applyGroupEvent(
  work: Work,
  directory: Directory,
  event: GroupEvent,
): Promise<GroupChange | undefined> {
  if (event.op === 'add') return addGroup(work, directory, event.body.group);
  const group = directory.groups.get(event.body.group_id);
  if (!group) return undefined;
  switch (event.op) {
    case 'update':
      return updateGroup(work, directory, group, event.body.data);
    case 'remove':
      return updateGroup(work, directory, group, { deactivated: true });
    case 'add_members': {
      const userIds = event.body.user_ids;
      await writeMembers(work, group.id, userIds, true);
      const gained = directory.addMembers(group, userIds);
      const lost = directory.usersOf();
      return new Map([...gained].map(([id, members]) => [id, { gained: members, lost }]));
    }
    case 'remove_members':
      return changing(directory, group.id, async () => {
        const userIds = event.body.user_ids;
        await writeMembers(work, group.id, userIds, false);
        for (const id of userIds) group.members.delete(id);
      });
    case 'add_subgroups':
    case 'remove_subgroups':
      return changing(directory, group.id, async () => {
        const ids = event.body.direct_subgroup_ids;
        await writeSubgroups(work, group.id, ids, event.op === 'add_subgroups');
        for (const id of ids) event.op === 'add_subgroups' ? group.subgroups.add(id) : group.subgroups.delete(id);
      });
  }
}

/**
 * For some clients a reactivated group is announced as a new one; the projection is then set to the announced state.
 */
async function addGroup(work: Work, directory: Directory, record: UserGroup): Promise<GroupChange | undefined> {
  const group: Group = {
    id: record.id,
    name: record.name,
    isSystem: record.is_system_group,
    isActive: !record.deactivated,
    members: new Set(record.members),
    subgroups: new Set(record.direct_subgroup_ids),
  };
  return changing(directory, group.id, async () => {
    await work.run(
      sql.unsafe`DELETE FROM channels.group_member WHERE realm_id = ${work.realmId} AND group_id = ${group.id}`,
    );
    await work.run(
      sql.unsafe`DELETE FROM channels.group_subgroup WHERE realm_id = ${work.realmId} AND group_id = ${group.id}`,
    );
    await storeGroup(work, group);
    await writeMembers(work, group.id, record.members, true);
    await writeSubgroups(work, group.id, record.direct_subgroup_ids, true);
    directory.groups.set(group.id, group);
  });
}

async function updateGroup(
  work: Work,
  directory: Directory,
  group: Group,
  data: { name?: string; deactivated?: boolean },
): Promise<GroupChange | undefined> {
  const isActive = data.deactivated === undefined ? group.isActive : !data.deactivated;
  const name = data.name ?? group.name;
  if (isActive === group.isActive && name === group.name) return undefined;
  return changing(directory, group.id, async () => {
    Object.assign(group, { name, isActive });
    await storeGroup(work, group);
  });
}

/** Runs a change of one group and compares the members of it and of all groups that contain it. */
async function changing(directory: Directory, groupId: number, change: () => Promise<void>): Promise<GroupChange> {
  const before = new Map(directory.withSupergroups(groupId).map((id) => [id, directory.membersOf(id)]));
  await change();
  directory.groupsChanged();
  const nobody = directory.usersOf();
  const touched = new Set([...before.keys(), ...directory.withSupergroups(groupId)]);
  const changed = new Map<number, { gained: UserSet; lost: UserSet }>();
  const takeTurns = inTurns();
  for (const id of touched) {
    await takeTurns();
    const [was, is] = [before.get(id) ?? nobody, directory.membersOf(id)];
    changed.set(id, { gained: is.copy().deleteAll(was), lost: was.copy().deleteAll(is) });
  }
  return changed;
}

async function storeGroup(work: Work, { id, name, isSystem, isActive }: Group): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO channels.user_group (realm_id, id, name, is_system, is_active) VALUES (${work.realmId}, ${id}, ${name}, ${isSystem}, ${isActive})
    ON CONFLICT (realm_id, id) DO UPDATE SET name = excluded.name, is_active = excluded.is_active`);
}

async function writeMembers(work: Work, groupId: number, userIds: readonly number[], isAdded: boolean): Promise<void> {
  if (userIds.length === 0) return;
  const ids = sql.array([...userIds], 'int4');
  if (isAdded)
    await work.run(sql.unsafe`
      INSERT INTO channels.group_member (realm_id, group_id, user_id) SELECT ${work.realmId}, ${groupId}, id FROM unnest(${ids}) id ON CONFLICT DO NOTHING`);
  else
    await work.run(sql.unsafe`
      DELETE FROM channels.group_member WHERE realm_id = ${work.realmId} AND group_id = ${groupId} AND user_id = ANY(${ids})`);
}

async function writeSubgroups(
  work: Work,
  groupId: number,
  subgroupIds: readonly number[],
  isAdded: boolean,
): Promise<void> {
  if (subgroupIds.length === 0) return;
  const ids = sql.array([...subgroupIds], 'int4');
  if (isAdded)
    await work.run(sql.unsafe`
      INSERT INTO channels.group_subgroup (realm_id, group_id, subgroup_id) SELECT ${work.realmId}, ${groupId}, id FROM unnest(${ids}) id ON CONFLICT DO NOTHING`);
  else
    await work.run(sql.unsafe`
      DELETE FROM channels.group_subgroup WHERE realm_id = ${work.realmId} AND group_id = ${groupId} AND subgroup_id = ANY(${ids})`);
}
