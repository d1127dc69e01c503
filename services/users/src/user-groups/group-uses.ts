import type { GroupSetting, GroupUse } from '@natter/contracts';
import type { Work } from '@natter/database';
import { groupsNamed } from '@natter/permissions';
import { readGroups } from '../model/group-row.ts';
import { readRealm } from '../model/read-realm.ts';

/** Uses of a group in this service: settings of the realm, other groups, and their permissions. */
export async function usesInPeople(work: Work, groupId: number): Promise<GroupUse[]> {
  const { permissions } = await readRealm(work, work.realmId);
  const others = (await readGroups(work, work.realmId)).filter((row) => row.id !== groupId && !row.is_deactivated);
  const uses: GroupUse[] = [];
  const settings = namesOf(permissions, groupId);
  if (settings.length > 0) uses.push({ type: 'realm', settings });
  const supergroup_ids = others.filter((row) => row.subgroups.includes(groupId)).map((row) => row.id);
  if (supergroup_ids.length > 0) uses.push({ type: 'subgroup', supergroup_ids });
  for (const row of others) {
    const names = namesOf(row.permissions, groupId);
    if (names.length > 0) uses.push({ type: 'user_group', group_id: row.id, settings: names });
  }
  return uses;
}

const namesOf = (values: Record<string, GroupSetting>, groupId: number): string[] =>
  Object.entries(values)
    .filter(([, value]) => groupsNamed(value).includes(groupId))
    .map(([name]) => name);
