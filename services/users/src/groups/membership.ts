import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { emitGroup } from './group-events.ts';
import { systemGroupsOfRole } from './system-groups.ts';

const idRow = z.object({ id: z.number() });

/**
 * Puts a user into the system groups of a role. Only the user's own rights depend on it, so other versions stay:
 * a thousand accounts made at once do not make each other's requests start over.
 */
export async function joinSystemGroups(work: Work, userId: number, role: number): Promise<void> {
  const rows = await work.any(sql.type(idRow)`
    INSERT INTO users.group_member (group_id, user_id)
    SELECT g.id, ${userId} FROM users.user_group g JOIN users.realm r ON r.id = g.realm_id JOIN users.account a ON a.id = ${userId}
    WHERE g.realm_id = ${work.realmId} AND g.is_system AND g.name = ANY(${sql.array([...systemGroupsOfRole(role)], 'text')})
      AND (g.name <> 'role:fullmembers' OR a.joined_at <= now() - make_interval(days => coalesce((r.settings->>'waiting_period_threshold')::int, 0)))
    ON CONFLICT DO NOTHING RETURNING group_id AS id`);
  await announceMoves(work, 'add_members', rows, userId);
}

async function leaveSystemGroups(work: Work, userId: number): Promise<void> {
  const rows = await work.any(sql.type(idRow)`
    DELETE FROM users.group_member m USING users.user_group g
    WHERE m.group_id = g.id AND g.is_system AND g.realm_id = ${work.realmId} AND m.user_id = ${userId} RETURNING g.id`);
  await announceMoves(work, 'remove_members', rows, userId);
}

/** Of a deactivated user nothing is told: they are listed nowhere. */
async function announceMoves(
  work: Work,
  op: 'add_members' | 'remove_members',
  groups: readonly { id: number }[],
  userId: number,
): Promise<void> {
  const { is_active } = await work.one(
    sql.type(z.object({ is_active: z.boolean() }))`SELECT is_active FROM users.account WHERE id = ${userId}`,
  );
  if (is_active) for (const { id } of groups.toSorted((a, b) => a.id - b.id)) emitMembers(work, op, id, [userId]);
}

/** After a change of role: out of the old system groups, into the new. */
export async function moveToRole(work: Work, userId: number, role: number): Promise<void> {
  await leaveSystemGroups(work, userId);
  await joinSystemGroups(work, userId, role);
  bumpMembers(work, [userId]);
}

/** A deactivated user is listed in no group; the rows stay for the day they come back. */
export const announceLeaving = (work: Work, userId: number): Promise<void> => announce(work, 'remove_members', userId);
export const announceReturn = (work: Work, userId: number): Promise<void> => announce(work, 'add_members', userId);

async function announce(work: Work, op: 'add_members' | 'remove_members', userId: number): Promise<void> {
  const groups = await work.any(sql.type(idRow.extend({ is_deactivated: z.boolean() }))`
    SELECT g.id, g.is_deactivated FROM users.group_member m JOIN users.user_group g ON g.id = m.group_id
    WHERE m.user_id = ${userId} ORDER BY g.id`);
  for (const group of groups) emitGroup(work, group, op, { user_ids: [userId] });
  bumpMembers(work, [userId]);
}

/** Of a group that is not deactivated. */
export function emitMembers(
  work: Work,
  op: 'add_members' | 'remove_members',
  groupId: number,
  userIds: readonly number[],
): void {
  if (userIds.length === 0) return;
  emitGroup(work, { id: groupId, is_deactivated: false }, op, { user_ids: userIds });
}

/** What was decided on these users' own rights ends, and what rests on who is in which group. */
export function bumpMembers(work: Work, userIds: readonly number[]): void {
  if (userIds.length === 0) return;
  work.bump('group-contents');
  for (const id of userIds) work.bump(`actor:${id}`);
}
