import type { LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { emitGroup } from './group-events.ts';
import { systemGroupsOfRole } from './system-groups.ts';

const movedRow = z.object({ id: z.number(), user_ids: z.array(z.number()) });
/** The moved users by group. Nothing is announced for deactivated users, who are listed nowhere. */
const movedByGroup = sql.fragment`
  SELECT m.group_id AS id, array_agg(m.user_id ORDER BY m.user_id) AS user_ids
  FROM moved m JOIN users.account a ON a.id = m.user_id WHERE a.is_active GROUP BY m.group_id ORDER BY m.group_id`;

/**
 * Adds users to the system groups of a role. Only the users' own rights depend on it, so other versions are not
 * bumped: creating a thousand accounts at once does not make their requests conflict.
 */
export async function joinSystemGroups(work: Work, userIds: readonly number[], role: number): Promise<void> {
  const rows = await work.any(sql.type(movedRow)`
    WITH moved AS (INSERT INTO users.group_member (group_id, user_id)
    SELECT g.id, a.id FROM users.user_group g JOIN users.realm r ON r.id = g.realm_id
      JOIN users.account a ON a.id = ANY(${sql.array([...userIds], 'int4')})
    WHERE g.realm_id = ${work.realmId} AND g.is_system AND g.name = ANY(${sql.array([...systemGroupsOfRole(role)], 'text')})
      AND (g.name <> 'role:fullmembers' OR a.joined_at <= now() - make_interval(days => coalesce((r.settings->>'waiting_period_threshold')::int, 0)))
    ON CONFLICT DO NOTHING RETURNING group_id, user_id) ${movedByGroup}`);
  for (const { id, user_ids } of rows) emitMembers(work, 'add_members', id, user_ids);
}

async function leaveSystemGroups(work: Work, userIds: readonly number[]): Promise<void> {
  const rows = await work.any(sql.type(movedRow)`
    WITH moved AS (DELETE FROM users.group_member m USING users.user_group g
      WHERE m.group_id = g.id AND g.is_system AND g.realm_id = ${work.realmId} AND m.user_id = ANY(${sql.array([...userIds], 'int4')})
      RETURNING m.group_id, m.user_id) ${movedByGroup}`);
  for (const { id, user_ids } of rows) emitMembers(work, 'remove_members', id, user_ids);
}

/** After a change of role: the users leave the old system groups and join the new ones. */
export async function moveToRole(work: Work, userIds: readonly number[], role: number): Promise<void> {
  await leaveSystemGroups(work, userIds);
  await joinSystemGroups(work, userIds, role);
  bumpMembers(work, userIds);
}

/**
 * Deactivated users are listed in no group; the rows are kept for a reactivation. An event for each group, not for each
 * membership: the bots of a user may be in many groups, and the number of events of a unit is limited.
 */
export const announceLeaving = (work: Work, userIds: readonly number[]): Promise<void> =>
  announce(work, 'remove_members', userIds);
export const announceReturn = (work: Work, userId: number): Promise<void> => announce(work, 'add_members', [userId]);

const membersRow = z.object({ id: z.number(), is_deactivated: z.boolean(), user_ids: z.array(z.number()) });

async function announce(work: Work, op: 'add_members' | 'remove_members', userIds: readonly number[]): Promise<void> {
  const groups = await work.any(sql.type(membersRow)`
    SELECT g.id, g.is_deactivated, array_agg(m.user_id ORDER BY m.user_id) AS user_ids
    FROM users.group_member m JOIN users.user_group g ON g.id = m.group_id
    WHERE m.user_id = ANY(${sql.array([...userIds], 'int4')}) GROUP BY g.id ORDER BY g.id`);
  for (const group of groups) emitGroup(work, group, membersChanged(op, group.id, group.user_ids));
  bumpMembers(work, userIds);
}

const membersChanged = (
  op: 'add_members' | 'remove_members',
  group_id: number,
  user_ids: readonly number[],
): LogEvent<'user_group/add_members' | 'user_group/remove_members'> => ({
  type: 'user_group',
  op,
  body: { group_id, user_ids },
  audience: 'realm',
});

/** Emits a change of members. The group must not be deactivated. */
export function emitMembers(
  work: Work,
  op: 'add_members' | 'remove_members',
  groupId: number,
  userIds: readonly number[],
): void {
  if (userIds.length === 0) return;
  emitGroup(work, { is_deactivated: false }, membersChanged(op, groupId, userIds));
}

/** Bumps the versions of these users' rights, and of group contents. */
export function bumpMembers(work: Work, userIds: readonly number[]): void {
  if (userIds.length === 0) return;
  work.bump('group-contents');
  for (const id of userIds) work.bump(`actor:${id}`);
}
