import {
  type Actor,
  badRequest,
  type GroupChange,
  type GroupPermission,
  type GroupSetting,
  groupOperations,
  groupPermissions,
  keysOf,
  type ParamsOf,
} from '@natter/contracts';
import { authorOfPermissions, duplicateAs, sql, type Work } from '@natter/database';
import { updatedSetting } from '@natter/permissions';
import { type Bus, type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { lockGroup, requireCloser, requireGroup, requireManager } from '../model/access-group.ts';
import { changeOfGroups } from '../model/change.ts';
import { emitReactivated, emitUpdated } from '../model/group-events.ts';
import { type GroupRow, permissionOf } from '../model/group-row.ts';
import { checkSetting } from '../model/nameable.ts';
import { expectRealm } from '../model/permits.ts';
import { requireRoomForGroups } from '../model/room-for-groups.ts';
import { endGroup, usesElsewhere } from './deactivate-user-group.ts';
import { checkedGroupDescription, checkedGroupName, nameTaken } from './group-name.ts';

type Params = ParamsOf<typeof groupOperations.updateUserGroup>;
const permissionNames = keysOf(groupPermissions);

export function updateGroupHandlers(owner: Owner, bus: Bus): Handlers {
  return [
    handleWrite(groupOperations.updateUserGroup, async (context, params) => {
      const { actor } = context;
      const { user_group_id, deactivated, ...changes } = params;
      const changesData = Object.values(changes).some((value) => value !== undefined);
      if (!changesData && deactivated === undefined) throw badRequest('No new data supplied');
      if (changes.name !== undefined) changes.name = checkedGroupName(changes.name);
      if (changes.description !== undefined) checkedGroupDescription(changes.description);
      const uses = deactivated ? await usesElsewhere(owner, bus, context, user_group_id) : undefined;
      return changeOfGroups(context, async (work, holder) => {
        const group = await lockGroup(work, user_group_id);
        if (changesData) {
          await requireManager(work, group, holder);
          await changeGroup(work, actor, group, changes);
        }
        if (deactivated !== undefined) await requireCloser(() => expectRealm(work), group, holder);
        if (deactivated === false && group.is_deactivated) await reactivate(work, group);
        if (uses && !group.is_deactivated) await endGroup(work, group, uses);
        return {};
      });
    }),
  ];
}

async function changeGroup(
  work: Work,
  actor: Actor,
  group: GroupRow,
  params: Omit<Params, 'user_group_id' | 'deactivated'>,
): Promise<void> {
  const data: GroupChange = {};
  const permissions: Partial<Record<GroupPermission, GroupSetting>> = {};
  for (const name of permissionNames) {
    const stored = permissionOf(group, name);
    const value = updatedSetting(stored, params[name], group.inactive);
    if (value === undefined) continue;
    await checkSetting(work, [name, groupPermissions[name]], value, stored);
    permissions[name] = value;
  }
  if (params.name !== undefined && params.name !== group.name) data.name = params.name;
  if (params.description !== undefined && params.description !== group.description)
    data.description = params.description;
  if (Object.keys(data).length + Object.keys(permissions).length === 0) return;
  const [before, after] = [group.permissions, { ...group.permissions, ...permissions }];
  await work
    .run(sql.unsafe`
      UPDATE users.user_group SET name = coalesce(${params.name ?? null}, name), description = coalesce(${params.description ?? null}, description),
        permissions = permissions || ${JSON.stringify(permissions)}::jsonb, permissions_by = ${authorOfPermissions(actor.userId, before, after)}
      WHERE id = ${group.id}`)
    .catch(duplicateAs(() => nameTaken(params.name ?? '')));
  if (Object.keys(permissions).length > 0) await requireRoomForGroups(work, actor, { before, after });
  emitUpdated(work, group, { ...data, ...permissions }, group.inactive);
  work.bump('group-contents');
}

async function reactivate(work: Work, group: GroupRow): Promise<void> {
  await work.run(sql.unsafe`UPDATE users.user_group SET is_deactivated = false WHERE id = ${group.id}`);
  work.bump('groups');
  emitReactivated(work, await requireGroup(work, work.realmId, group.id));
}
