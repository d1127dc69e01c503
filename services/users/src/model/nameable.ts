import { badRequest, ChatError, type GroupSetting, type PermissionSetting } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { groupsNamed, normalized, problemOf } from '@natter/permissions';
import { z } from 'zod';

const groupRow = z.object({ id: z.number(), name: z.string(), is_system: z.boolean(), is_deactivated: z.boolean() });

/**
 * The value to store; refuses an invalid one. The groups it names are locked until the commit, so that they cannot be
 * deactivated at the same time: if an assignment and a deactivation race, one of them is refused.
 */
export async function checkedSetting(
  work: Work,
  name: string,
  setting: PermissionSetting,
  value: GroupSetting,
): Promise<GroupSetting> {
  const written = normalized(value);
  const groups = await work.any(sql.type(groupRow)`
    SELECT id, name, is_system, is_deactivated FROM users.user_group
    WHERE realm_id = ${work.realmId} AND id = ANY(${sql.array([...groupsNamed(written)], 'int4')}) ORDER BY id FOR SHARE`);
  const byId = new Map(groups.map((row) => [row.id, row]));
  const members = typeof written === 'number' ? [] : written.direct_members;
  const active = new Set(await activeUserIds(work, members));
  const problem = problemOf(name, setting, written, {
    group: (id) => {
      const row = byId.get(id);
      return row && { id, name: row.name, isSystem: row.is_system, isDeactivated: row.is_deactivated };
    },
    isActiveUser: (id) => active.has(id),
  });
  if (problem === `'${name}' must be a system user group.`)
    throw new ChatError('SYSTEM_GROUP_REQUIRED', problem, { setting_name: name });
  if (problem !== undefined) throw badRequest(problem);
  return written;
}

/** The subset of ids that are active accounts of this realm. */
export async function activeUserIds(work: Work, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await work.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND is_active AND NOT is_system_bot AND id = ANY(${sql.array([...ids], 'int4')})`);
  return rows.map((row) => row.id);
}
