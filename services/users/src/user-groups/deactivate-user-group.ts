import { badRequest, ChatError, groupOperations, groupUsesKey } from '@natter/contracts';
import { readVersion, sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import { type Bus, type Handlers, handleWrite, type Owner, type WriteContext } from '@natter/service-kit';
import { lockGroup, requireCloser } from '../model/access-group.ts';
import { actorNow } from '../model/actors.ts';
import { changeOfGroups } from '../model/change.ts';
import { emitDeactivated } from '../model/group-events.ts';
import { type GroupRow, readGroupRules } from '../model/group-row.ts';
import { expectRealm } from '../model/permits.ts';
import { readRealm } from '../model/read-realm.ts';
import { usesInPeople } from './group-uses.ts';

export function deactivateGroupHandlers(owner: Owner, bus: Bus): Handlers {
  return [
    handleWrite(groupOperations.deactivateUserGroup, (context, { user_group_id }) =>
      deactivateGroup(owner, bus, context, user_group_id),
    ),
  ];
}

/**
 * A group in use cannot be deactivated. Uses in other services are queried before the unit, which expects that none was
 * added since; in this service the group's row is locked against assignments.
 */
export async function deactivateGroup(
  owner: Owner,
  bus: Bus,
  context: WriteContext,
  group_id: number,
): Promise<Record<string, never>> {
  const uses = await usesElsewhere(owner, bus, context, group_id);
  return changeOfGroups(context, async (work, holder) => {
    const row = await mayEnd(work, holder, group_id);
    await endGroup(work, row, uses);
    return {};
  });
}

/** Uses of a group in other services, and their version. */
export interface GroupUses {
  version: number;
  objections: readonly unknown[];
}

/** Queried only for users who may deactivate the group now, because the query reads all channels. */
export async function usesElsewhere(
  { database }: Owner,
  bus: Bus,
  { actor, meta }: WriteContext,
  group_id: number,
): Promise<GroupUses> {
  const [group] = await readGroupRules(database, meta.realmId, [group_id]);
  if (!group) throw badRequest('Invalid user group');
  await requireCloser(() => readRealm(database, meta.realmId), group, await actorNow(database, actor));
  const version = await readVersion(database, meta.realmId, groupUsesKey);
  const { objections } = await bus.call(groupOperations.getGroupUses, { group_id }, { actor, meta });
  return { version, objections };
}

/** Deactivates a group whose row is locked, unless it is in use. */
export async function endGroup(work: Work, row: GroupRow, { version, objections }: GroupUses): Promise<void> {
  work.expectVersions({ [groupUsesKey]: version });
  const all = [...(await usesInPeople(work, row.id)), ...objections];
  if (all.length > 0)
    throw new ChatError('CANNOT_DEACTIVATE_GROUP_IN_USE', 'Cannot deactivate user group in use.', { objections: all });
  await work.run(sql.unsafe`UPDATE users.user_group SET is_deactivated = true WHERE id = ${row.id}`);
  emitDeactivated(work, row);
  work.bump('groups');
}

async function mayEnd(work: Work, holder: Holder, groupId: number): Promise<GroupRow> {
  const row = await lockGroup(work, groupId);
  await requireCloser(() => expectRealm(work), row, holder);
  if (row.is_deactivated) throw badRequest('User group is already deactivated.');
  return row;
}
