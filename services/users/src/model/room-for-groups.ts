import { type Actor, isAdministrator, totals } from '@natter/contracts';
import { requireRoom, requireRoomForPermissions, requireShare, sql, type Work } from '@natter/database';
import { accountsOf, ownAccounts, personOf } from './own-accounts.ts';

/** Call it after a group was added with these permissions, or got them in a change. */
export const requireRoomForGroups = (
  work: Work,
  actor: Actor,
  { before, after }: { before?: object; after: object },
): Promise<void> =>
  requireRoomForPermissions(work, {
    total: totals.groups,
    ofRealm: sql.fragment`users.user_group WHERE realm_id = ${work.realmId}`,
    accounts: isAdministrator(actor) ? undefined : ownAccounts(actor),
    before,
    after,
    added: 1,
  });

/**
 * Call it after a group got members or subgroups: clients receive those of all groups. They count for its creator. Only in
 * a change of groups: those of a realm are serialized, so the number of added rows is not needed.
 */
export async function requireRoomForMembers(work: Work, actor: Actor, groupId: number): Promise<void> {
  const members = sql.fragment`(
      SELECT group_id FROM users.group_member UNION ALL SELECT group_id FROM users.group_subgroup
    ) m JOIN users.user_group g ON g.id = m.group_id WHERE g.realm_id = ${work.realmId} AND NOT g.is_system`;
  const creator = sql.fragment`(SELECT creator_id FROM users.user_group WHERE id = ${groupId})`;
  if (!isAdministrator(actor))
    await requireShare(
      work,
      totals.groupMembers,
      sql.fragment`${members} AND g.creator_id IN ${accountsOf(work.realmId, personOf(creator))}`,
    );
  await requireRoom(work, totals.groupMembers, members);
}
