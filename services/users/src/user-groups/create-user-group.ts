import { type GroupSetting, groupOperations, groupPermissions, keysOf, type ParamsOf } from '@natter/contracts';
import { duplicateAs, sql, type Work } from '@natter/database';
import { normalized } from '@natter/permissions';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { requireGroup } from '../model/access-group.ts';
import { changeOfGroups } from '../model/change.ts';
import { emitAdded } from '../model/group-events.ts';
import { checkedUsers, insertMembers } from '../model/group-members.ts';
import { bumpMembers } from '../model/membership.ts';
import { checkSetting } from '../model/nameable.ts';
import { type Realm, readRealm } from '../model/read-realm.ts';
import { requireRoomForGroups, requireRoomForMembers } from '../model/room-for-groups.ts';
import { checkedGroupDescription, checkedGroupName, nameTaken } from './group-name.ts';
import { insertSubgroups } from './subgroups.ts';

type Params = ParamsOf<typeof groupOperations.createUserGroup>;

export function createGroupHandlers(): Handlers {
  return [
    handleWrite(groupOperations.createUserGroup, async (context, params) => {
      const { actor } = context;
      const name = checkedGroupName(params.name);
      const description = checkedGroupDescription(params.description);
      return changeOfGroups(context, async (work) => {
        const realm = await readRealm(work, work.realmId);
        const members = await checkedUsers(work, params.members);
        const permissions = await permissionsOf(work, realm, actor.userId, params);
        const { id } = await work
          .one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.user_group (realm_id, name, description, creator_id, permissions)
            VALUES (${work.realmId}, ${name}, ${description}, ${actor.userId}, ${JSON.stringify(permissions)}) RETURNING id`)
          .catch(duplicateAs(() => nameTaken(name)));
        await insertMembers(work, id, members);
        await insertSubgroups(work, id, params.subgroups);
        await requireRoomForGroups(work, actor, { after: permissions });
        if (members.length + params.subgroups.length > 0) await requireRoomForMembers(work, actor, id);
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
  for (const name of keysOf(groupPermissions)) {
    const setting = groupPermissions[name];
    const given = params[name];
    if (given !== undefined) {
      values[name] = normalized(given);
      await checkSetting(work, [name, setting], values[name]);
    } else if (setting.default_group_name === 'group_creator')
      values[name] = { direct_members: [creatorId], direct_subgroups: [] };
    else values[name] = realm.systemGroups[setting.default_group_name];
  }
  return values;
}
