import { badRequest, limits } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';

interface Grown {
  /** Users who joined a group directly. */
  userIds?: readonly number[];
  /** Groups that became part of another one, or active again. */
  groupIds?: readonly number[];
}

/**
 * Refuses a change after which a user is in more groups than the limit, directly or through subgroups. Each group within
 * is checked like a user who is in this group alone: new accounts are not refused because of the groups of their role. A
 * change of role is not refused: the groups of the role and those of the user are each within the limit. Call it after the
 * change, in a unit that takes turns with others of its kind.
 */
export async function requireFewGroups(work: Work, { userIds = [], groupIds = [] }: Grown): Promise<void> {
  const { many } = await work.one(sql.type(z.object({ many: z.boolean() }))`
    SELECT count(*) > ${limits.groupsPerUser} AS many FROM (
      SELECT FROM users.user_group WHERE realm_id = ${work.realmId} AND NOT is_deactivated LIMIT ${limits.groupsPerUser + 1}) counted`);
  // Nobody can be in more groups than there are: the usual case.
  if (!many) return;
  // Users with the same direct groups are in the same groups, so each such set is followed once.
  const { exceeds } = await work.one(sql.type(z.object({ exceeds: z.boolean() }))`
    WITH RECURSIVE within (id) AS (
      SELECT unnest(${sql.array([...groupIds], 'int4')})
      UNION SELECT s.subgroup_id FROM within w JOIN users.group_subgroup s ON s.group_id = w.id
    ), sets (direct) AS (
      SELECT array_agg(m.group_id ORDER BY m.group_id) FROM (
        SELECT unnest(${sql.array([...userIds], 'int4')}) AS user_id
        UNION SELECT o.user_id FROM within w JOIN users.group_member o ON o.group_id = w.id
      ) affected JOIN users.group_member m ON m.user_id = affected.user_id GROUP BY m.user_id
      UNION SELECT ARRAY[id] FROM within
    )
    SELECT EXISTS (SELECT FROM sets CROSS JOIN LATERAL (
      WITH RECURSIVE reached (id) AS (
        SELECT g.id FROM users.user_group g WHERE g.id = ANY(sets.direct) AND NOT g.is_deactivated
        UNION
        SELECT o.group_id FROM reached x CROSS JOIN LATERAL (
          SELECT s.group_id FROM users.group_subgroup s JOIN users.user_group g ON g.id = s.group_id
          WHERE s.subgroup_id = x.id AND NOT g.is_deactivated OFFSET 0) o
      ) SELECT count(*) AS count FROM reached) closure WHERE closure.count > ${limits.groupsPerUser}) AS exceeds`);
  if (exceeds)
    throw badRequest(`A user can be in at most ${limits.groupsPerUser} user groups, directly or through other groups.`);
}
