import { type Actor, isAdministrator, totals } from '@natter/contracts';
import { requireRoomForPermissions, sql, type Work } from '@natter/database';
import { ownAccounts } from './own-accounts.ts';

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
  });
