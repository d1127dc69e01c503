import type { GroupSetting } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

const idRow = z.object({ id: z.number() });
const ids = (rows: readonly { id: number }[]): number[] => rows.map((row) => row.id);

/** A deactivated group grants nothing, neither directly nor through the groups it contains. */
const isActive = (groupId: ReturnType<typeof sql.fragment>, realmId: number) =>
  sql.fragment`NOT EXISTS (SELECT FROM messaging.user_group d WHERE d.realm_id = ${realmId} AND d.group_id = ${groupId} AND d.is_deactivated)`;

/** All members of these groups, directly or through subgroups. */
export async function membersOf(executor: Executor, realmId: number, groupIds: readonly number[]): Promise<number[]> {
  if (groupIds.length === 0) return [];
  return ids(
    await executor.any(sql.type(idRow)`
      WITH RECURSIVE reached (id) AS (
        SELECT g FROM unnest(${sql.array([...groupIds], 'int4')}) g WHERE ${isActive(sql.fragment`g`, realmId)}
        UNION SELECT s.subgroup_id FROM messaging.group_subgroup s JOIN reached r ON r.id = s.group_id
          WHERE s.realm_id = ${realmId} AND ${isActive(sql.fragment`s.subgroup_id`, realmId)}
      ) SELECT DISTINCT m.user_id AS id FROM messaging.group_member m JOIN reached r ON r.id = m.group_id WHERE m.realm_id = ${realmId}`),
  );
}

/** The groups of a user, directly or through subgroups. */
export async function groupsOf(executor: Executor, realmId: number, userId: number): Promise<number[]> {
  return ids(
    await executor.any(sql.type(idRow)`
      WITH RECURSIVE reached (id) AS (
        SELECT m.group_id FROM messaging.group_member m
          WHERE m.realm_id = ${realmId} AND m.user_id = ${userId} AND ${isActive(sql.fragment`m.group_id`, realmId)}
        UNION SELECT s.group_id FROM messaging.group_subgroup s JOIN reached r ON r.id = s.subgroup_id
          WHERE s.realm_id = ${realmId} AND ${isActive(sql.fragment`s.group_id`, realmId)}
      ) SELECT id FROM reached`),
  );
}

/** The subset of users who are in the value of a permission setting. */
export async function holdersAmong(
  executor: Executor,
  realmId: number,
  value: GroupSetting,
  userIds: readonly number[],
): Promise<number[]> {
  const direct = typeof value === 'number' ? [] : value.direct_members;
  const members = await membersOf(executor, realmId, typeof value === 'number' ? [value] : value.direct_subgroups);
  const all = new Set([...direct, ...members]);
  return userIds.filter((id) => all.has(id));
}
