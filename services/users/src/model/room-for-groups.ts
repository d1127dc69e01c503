import { type Actor, isAdministrator, totals } from '@natter/contracts';
import { bytesOfPermissions, requireRoom, requireShare, sql, type Work } from '@natter/database';
import { ownAccounts } from './own-accounts.ts';

/** Call it after a group was added with these permissions, or got them. */
export async function requireRoomForGroups(work: Work, actor: Actor, permissions: object): Promise<void> {
  const ofRealm = sql.fragment`users.user_group WHERE realm_id = ${work.realmId}`;
  const bytes = bytesOfPermissions(permissions);
  if (!isAdministrator(actor))
    await requireShare(work, totals.groups, sql.fragment`${ofRealm} AND creator_id IN ${ownAccounts(actor)}`, bytes);
  await requireRoom(work, totals.groups, ofRealm, bytes);
}
