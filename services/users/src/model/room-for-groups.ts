import { totals } from '@natter/contracts';
import { bytesOfPermissions, requireRoom, sql, type Work } from '@natter/database';

/** Call it after a group was added with these permissions, or got them. */
export const requireRoomForGroups = (work: Work, permissions: object): Promise<void> =>
  requireRoom(
    work,
    totals.groups,
    sql.fragment`users.user_group WHERE realm_id = ${work.realmId}`,
    bytesOfPermissions(permissions),
  );
