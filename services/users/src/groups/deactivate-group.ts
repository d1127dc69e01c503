import { type Actor, badRequest, ChatError, groupOperations, groupUsesKey, type RequestMeta } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Bus, type Handlers, handle, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { changeOfGroups } from '../change.ts';
import { lockGroup, requireCloser } from './access-group.ts';
import { emitDeactivated } from './group-events.ts';
import type { GroupRow } from './group-row.ts';
import { usesInPeople } from './group-uses.ts';
import { holderOf } from './holder.ts';

export function deactivateGroupHandlers(owner: Owner, bus: Bus): Handlers {
  return [
    handle(groupOperations.deactivateUserGroup, (context, { user_group_id }) =>
      deactivateGroup(owner, bus, context, user_group_id),
    ),
    handle(groupOperations.removeUserGroup, (context, { user_group_id }) =>
      deactivateGroup(owner, bus, context, user_group_id),
    ),
  ];
}

/**
 * A group that is used stays (specification 4.20). What other services use it for is asked before the unit, which rests on
 * there being no new use since; in this service the group's row is held against assignments.
 */
async function deactivateGroup(
  owner: Owner,
  bus: Bus,
  context: UserContext,
  group_id: number,
): Promise<Record<string, never>> {
  const { actor, meta } = context;
  const uses = await usesElsewhere(owner, bus, meta, group_id);
  return changeOfGroups(owner, context, async (work) => {
    const row = await mayEnd(work, actor, group_id);
    await endGroup(work, row, uses);
    return {};
  });
}

/** What other services use a group for, and the version of that. */
export interface GroupUses {
  version: number;
  objections: readonly unknown[];
}

export async function usesElsewhere(owner: Owner, bus: Bus, meta: RequestMeta, group_id: number): Promise<GroupUses> {
  const { version } = await owner.database.one(sql.type(z.object({ version: z.number() }))`
    SELECT version FROM log.versions(${meta.realmId}, ${sql.array([groupUsesKey], 'text')})`);
  const { objections } = await bus.call(groupOperations.getGroupUses, { group_id }, { meta });
  return { version, objections };
}

/** Ends a group whose row is locked, as long as nothing uses it. */
export async function endGroup(work: Work, row: GroupRow, { version, objections }: GroupUses): Promise<void> {
  work.restOn({ [groupUsesKey]: version });
  const all = [...(await usesInPeople(work, row.id)), ...objections];
  if (all.length > 0)
    throw new ChatError('CANNOT_DEACTIVATE_GROUP_IN_USE', 'Cannot deactivate user group in use.', { objections: all });
  await work.run(sql.unsafe`UPDATE users.user_group SET is_deactivated = true WHERE id = ${row.id}`);
  emitDeactivated(work, row);
  work.bump('groups');
}

async function mayEnd(work: Work, actor: Actor, groupId: number): Promise<GroupRow> {
  const row = await lockGroup(work, groupId);
  if (row.is_deactivated) throw badRequest('User group is already deactivated.');
  await requireCloser(work, row, await holderOf(work, actor.userId));
  return row;
}
