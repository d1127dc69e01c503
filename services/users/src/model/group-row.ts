import {
  type GroupPermission,
  type GroupSetting,
  groupPermissions,
  keysOf,
  recordOf,
  type UserGroup,
} from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { normalized, shownSetting } from '@natter/permissions';
import { z } from 'zod';
import { inactiveAmong } from './inactive.ts';

const rulesRow = z.object({
  id: z.number(),
  is_system: z.boolean(),
  is_deactivated: z.boolean(),
  permissions: z.record(z.string(), z.any()),
  nobody_id: z.number(),
});
/** The columns that decide who may change a group. */
export type GroupRules = z.infer<typeof rulesRow>;

const groupRow = rulesRow.extend({
  name: z.string(),
  description: z.string(),
  creator_id: z.number().nullable(),
  created_at: z.date(),
  members: z.array(z.number()),
  subgroups: z.array(z.number()),
});
/** `inactive`: the deactivated users whom permissions name; clients are not shown them. */
export type GroupRow = z.infer<typeof groupRow> & { inactive: ReadonlySet<number> };

const rulesColumns = sql.fragment`g.id, g.is_system, g.is_deactivated, g.permissions,
  (SELECT n.id FROM users.user_group n WHERE n.realm_id = g.realm_id AND n.name = 'role:nobody') AS nobody_id`;
const columns = sql.fragment`${rulesColumns}, g.name, g.description, g.creator_id, g.created_at,
  coalesce((SELECT json_agg(m.user_id ORDER BY m.user_id) FROM users.group_member m
    WHERE m.group_id = g.id AND NOT EXISTS (SELECT FROM users.account a WHERE a.realm_id = g.realm_id AND a.id = m.user_id AND NOT a.is_active)), '[]') AS members,
  coalesce((SELECT array_agg(s.subgroup_id ORDER BY s.subgroup_id) FROM users.group_subgroup s WHERE s.group_id = g.id), '{}') AS subgroups`;

export async function readGroups(executor: Executor, realmId: number): Promise<GroupRow[]> {
  const rows = await executor.any(
    sql.type(
      groupRow,
    )`SELECT ${columns} FROM users.user_group g WHERE g.realm_id = ${realmId} ORDER BY g.is_system DESC, g.id`,
  );
  const inactive = await inactiveAmong(executor, realmId, rows.flatMap(valuesOf));
  return rows.map((row) => ({ ...row, inactive }));
}

export async function findGroup(executor: Executor, realmId: number, id: number): Promise<GroupRow | undefined> {
  const row = await executor.maybeOne(
    sql.type(groupRow)`SELECT ${columns} FROM users.user_group g WHERE g.realm_id = ${realmId} AND g.id = ${id}`,
  );
  return row && { ...row, inactive: await inactiveAmong(executor, realmId, valuesOf(row)) };
}

const valuesOf = ({ permissions }: Pick<GroupRules, 'permissions'>): GroupSetting[] => Object.values(permissions);

/** Reads groups without their members, because there may be many. The result has the order of the ids. */
export const readGroupRules = (
  executor: Executor,
  realmId: number,
  ids: readonly number[],
  lock = sql.fragment``,
): Promise<readonly GroupRules[]> =>
  executor.any(sql.type(rulesRow)`
    SELECT ${rulesColumns} FROM users.user_group g
    WHERE g.realm_id = ${realmId} AND g.id = ANY(${sql.array([...ids], 'int4')}) ORDER BY g.id ${lock}`);

/** The groups whose permissions name one of the users. */
export const readGroupsNaming = (work: Work, userIds: readonly number[]): Promise<readonly GroupRules[]> =>
  work.any(sql.type(rulesRow)`
    SELECT ${rulesColumns} FROM users.user_group g
    WHERE g.realm_id = ${work.realmId} AND NOT g.is_system AND EXISTS (
      SELECT FROM jsonb_path_query(g.permissions, '$.*.direct_members[*]') named
      WHERE named::int = ANY(${sql.array([...userIds], 'int4')})) ORDER BY g.id`);

/** The value of one of the group's own permissions. */
export const permissionOf = (row: Pick<GroupRules, 'permissions' | 'nobody_id'>, name: GroupPermission): GroupSetting =>
  row.permissions[name] ?? row.nobody_id;

export const toGroup = (row: GroupRow): UserGroup => ({
  id: row.id,
  name: row.name,
  description: row.description,
  date_created: Math.floor(row.created_at.getTime() / 1000),
  creator_id: row.creator_id,
  members: row.members,
  direct_subgroup_ids: row.subgroups,
  is_system_group: row.is_system,
  deactivated: row.is_deactivated,
  ...recordOf(keysOf(groupPermissions), (name) => normalized(shownSetting(permissionOf(row, name), row.inactive))),
});

/** The group without the members that are hidden from the viewer. */
export const withoutHidden = <G extends Pick<UserGroup, 'members'>>(group: G, hidden: ReadonlySet<number>): G =>
  hidden.size === 0 ? group : { ...group, members: group.members.filter((id) => !hidden.has(id)) };
