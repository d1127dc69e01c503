import { type GroupPermission, type GroupSetting, groupPermissions, type UserGroup } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { normalized } from '@natter/permissions';
import { z } from 'zod';

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
export type GroupRow = z.infer<typeof groupRow>;

const rulesColumns = sql.fragment`g.id, g.is_system, g.is_deactivated, g.permissions,
  (SELECT n.id FROM users.user_group n WHERE n.realm_id = g.realm_id AND n.name = 'role:nobody') AS nobody_id`;
const columns = sql.fragment`${rulesColumns}, g.name, g.description, g.creator_id, g.created_at,
  coalesce((SELECT json_agg(m.user_id ORDER BY m.user_id) FROM users.group_member m
    WHERE m.group_id = g.id AND NOT EXISTS (SELECT FROM users.account a WHERE a.realm_id = g.realm_id AND a.id = m.user_id AND NOT a.is_active)), '[]') AS members,
  coalesce((SELECT array_agg(s.subgroup_id ORDER BY s.subgroup_id) FROM users.group_subgroup s WHERE s.group_id = g.id), '{}') AS subgroups`;

export const readGroups = (executor: Executor, realmId: number): Promise<GroupRow[]> =>
  executor.any(
    sql.type(
      groupRow,
    )`SELECT ${columns} FROM users.user_group g WHERE g.realm_id = ${realmId} ORDER BY g.is_system DESC, g.id`,
  );

export const findGroup = (executor: Executor, realmId: number, id: number): Promise<GroupRow | undefined> =>
  executor.maybeOne(
    sql.type(groupRow)`SELECT ${columns} FROM users.user_group g WHERE g.realm_id = ${realmId} AND g.id = ${id}`,
  );

/** Without the members, which may be many; in the order of the ids. */
export const readGroupRules = (
  executor: Executor,
  realmId: number,
  ids: readonly number[],
  lock = sql.fragment``,
): Promise<readonly GroupRules[]> =>
  executor.any(sql.type(rulesRow)`
    SELECT ${rulesColumns} FROM users.user_group g
    WHERE g.realm_id = ${realmId} AND g.id = ANY(${sql.array([...ids], 'int4')}) ORDER BY g.id ${lock}`);

/** The value of one of the group's own permissions. */
export const permissionOf = (row: Pick<GroupRow, 'permissions' | 'nobody_id'>, name: GroupPermission): GroupSetting =>
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
  ...(Object.fromEntries(
    (Object.keys(groupPermissions) as GroupPermission[]).map((name) => [name, normalized(permissionOf(row, name))]),
  ) as Record<GroupPermission, GroupSetting>),
});

/** The group without the members that are hidden from the viewer. */
export const withoutHidden = <G extends Pick<UserGroup, 'members'>>(group: G, hidden: ReadonlySet<number>): G =>
  hidden.size === 0 ? group : { ...group, members: group.members.filter((id) => !hidden.has(id)) };
