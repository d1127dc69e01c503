import { type Actor, badRequest, ChatError, groupOperations, groupUsesKey, type RequestMeta } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Bus, type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { lockGroup, requireCloser } from './access-group.ts';
import { emitDeactivated } from './group-events.ts';
import type { GroupRow } from './group-row.ts';
import { usesInPeople } from './group-uses.ts';
import { holderOf } from './holder.ts';

export function deactivateGroupHandlers(owner: Owner, bus: Bus): Handlers {
  return [
    handle(groupOperations.deactivateUserGroup, async ({ actor, meta }, { user_group_id }) => {
      await deactivateGroup(owner, bus, actor, meta, user_group_id);
      return {};
    }),
    handle(groupOperations.removeUserGroup, async ({ actor, meta }, { user_group_id }) => {
      await deactivateGroup(owner, bus, actor, meta, user_group_id);
      return {};
    }),
  ];
}

/**
 * A group that is used stays (specification 4.20). What other services use it for is asked before the unit, which rests on
 * there being no new use since; in this service the group's row is held against assignments.
 */
export async function deactivateGroup(
  { database, unitOfWork }: Owner,
  bus: Bus,
  actor: Actor,
  meta: RequestMeta,
  groupId: number,
): Promise<void> {
  const options = { realmId: actor.realmId, schema: 'users' };
  await unitOfWork(options, (work) => mayEnd(work, actor, groupId));
  const { version } = await database.one(sql.type(z.object({ version: z.number() }))`
    SELECT version FROM log.versions(${actor.realmId}, ${sql.array([groupUsesKey], 'text')})`);
  const { objections } = await bus.call(groupOperations.getGroupUses, { group_id: groupId }, { meta });
  await unitOfWork(options, async (work) => {
    work.restOn({ ...actor.basis, [groupUsesKey]: version });
    const row = await mayEnd(work, actor, groupId);
    const all = [...(await usesInPeople(work, groupId)), ...objections];
    if (all.length > 0)
      throw new ChatError('CANNOT_DEACTIVATE_GROUP_IN_USE', 'Cannot deactivate user group in use.', {
        objections: all,
      });
    await work.run(sql.unsafe`UPDATE users.user_group SET is_deactivated = true WHERE id = ${groupId}`);
    emitDeactivated(work, row);
    work.bump('groups');
  });
}

async function mayEnd(work: Work, actor: Actor, groupId: number): Promise<GroupRow> {
  const row = await lockGroup(work, groupId);
  if (row.is_deactivated) throw badRequest('User group is already deactivated.');
  await requireCloser(work, row, await holderOf(work, actor.userId));
  return row;
}
