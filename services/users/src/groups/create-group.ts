import {
  badRequest,
  type GroupPermission,
  type GroupSetting,
  groupOperations,
  groupPermissions,
  type ParamsOf,
  type SystemGroupName,
  totals,
} from '@natter/contracts';
import { requireRoom, sql, sqlState, type Work } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { changeOfGroups } from '../change.ts';
import { type Realm, readRealm } from '../realm/read-realm.ts';
import { requireGroup } from './access-group.ts';
import { emitAdded } from './group-events.ts';
import { checkedGroupDescription, checkedGroupName, nameTaken } from './group-name.ts';
import { holderOf, requirePermission } from './holder.ts';
import { bumpMembers } from './membership.ts';
import { activeUserIds, checkedSetting } from './nameable.ts';
import { insertSubgroups } from './subgroups.ts';

type Params = ParamsOf<typeof groupOperations.createUserGroup>;

export function createGroupHandlers(owner: Owner): Handlers {
  return [
    handle(groupOperations.createUserGroup, async (context, params) => {
      const { actor } = context;
      const name = checkedGroupName(params.name);
      const description = checkedGroupDescription(params.description);
      return changeOfGroups(owner, context, async (work) => {
        const realm = await readRealm(work, work.realmId);
        requirePermission(realm, 'can_create_groups', await holderOf(work, actor.userId));
        const members = await checkedUsers(work, params.members);
        const permissions = await permissionsOf(work, realm, actor.userId, params);
        const { id } = await work
          .one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.user_group (realm_id, name, description, creator_id, permissions)
            VALUES (${work.realmId}, ${name}, ${description}, ${actor.userId}, ${JSON.stringify(permissions)}) RETURNING id`)
          .catch((error: unknown) => {
            if (sqlState(error) === '23505') throw nameTaken(name);
            throw error;
          });
        await requireRoom(work, totals.groups, sql.fragment`users.user_group WHERE realm_id = ${work.realmId}`);
        await insertMembers(work, id, members);
        await insertSubgroups(work, id, params.subgroups);
        bumpMembers(work, members);
        if (params.subgroups.length > 0) work.bump('groups');
        emitAdded(work, await requireGroup(work, work.realmId, id), {
          added: { by: actor.userId, user_ids: members.filter((member) => member !== actor.userId) },
        });
        return { group_id: id };
      });
    }),
  ];
}

async function permissionsOf(
  work: Work,
  realm: Realm,
  creatorId: number,
  params: Params,
): Promise<Record<string, GroupSetting>> {
  const values: Record<string, GroupSetting> = {};
  for (const name of Object.keys(groupPermissions) as GroupPermission[]) {
    const setting = groupPermissions[name];
    const given = params[name];
    if (given !== undefined) values[name] = await checkedSetting(work, name, setting, given);
    else if (setting.default_group_name === 'group_creator')
      values[name] = { direct_members: [creatorId], direct_subgroups: [] };
    else values[name] = realm.systemGroups[setting.default_group_name as SystemGroupName];
  }
  return values;
}

/** The ids, once and ascending, if all of them are active users. */
export async function checkedUsers(work: Work, ids: readonly number[]): Promise<number[]> {
  const active = new Set(await activeUserIds(work, ids));
  const wrong = ids.find((id) => !active.has(id));
  if (wrong !== undefined) throw badRequest(`Invalid user ID ${wrong}`);
  return [...active].sort((a, b) => a - b);
}

export async function insertMembers(work: Work, groupId: number, userIds: readonly number[]): Promise<void> {
  if (userIds.length === 0) return;
  await work.run(sql.unsafe`
    INSERT INTO users.group_member (group_id, user_id) SELECT ${groupId}, id FROM unnest(${sql.array([...userIds], 'int4')}) id`);
}
