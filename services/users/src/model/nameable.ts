import { badRequest, ChatError, type GroupSetting, type PermissionSetting } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { groupsNamed, problemOf, usersNamed } from '@natter/permissions';
import { z } from 'zod';

const groupRow = z.object({ id: z.number(), name: z.string(), is_system: z.boolean(), is_deactivated: z.boolean() });

/**
 * Refuses an invalid value for a setting; users whom the stored value names are valid. The groups it names are locked until the
 * commit, so that they cannot be deactivated at the same time: if an assignment and a deactivation race, one of them is refused.
 */
export async function checkSetting(
  work: Work,
  [name, setting]: readonly [string, PermissionSetting],
  written: GroupSetting,
  stored?: GroupSetting,
): Promise<void> {
  const groups = await work.any(sql.type(groupRow)`
    SELECT id, name, is_system, is_deactivated FROM users.user_group
    WHERE realm_id = ${work.realmId} AND id = ANY(${sql.array([...groupsNamed(written)], 'int4')}) ORDER BY id FOR SHARE`);
  const byId = new Map(groups.map((row) => [row.id, row]));
  const former = stored === undefined ? [] : usersNamed(stored);
  const valid = new Set([...former, ...(await activeUserIds(work, usersNamed(written)))]);
  const problem = problemOf(name, setting, written, {
    group: (id) => {
      const row = byId.get(id);
      return row && { id, name: row.name, isSystem: row.is_system, isDeactivated: row.is_deactivated };
    },
    isActiveUser: (id) => valid.has(id),
  });
  if (problem === `'${name}' must be a system user group.`)
    throw new ChatError('SYSTEM_GROUP_REQUIRED', problem, { setting_name: name });
  if (problem !== undefined) throw badRequest(problem);
}

/** The subset of ids that are active accounts of this realm. */
export async function activeUserIds(work: Work, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await work.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND is_active AND NOT is_system_bot AND id = ANY(${sql.array([...ids], 'int4')})`);
  return rows.map((row) => row.id);
}
