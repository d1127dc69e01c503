import { type GroupRow, readGroups, toGroup, withoutHidden } from '../model/group-row.ts';
import type { SnapshotPart, SnapshotRequest } from '../model/snapshot-part.ts';
import { hiddenFrom } from '../model/user-visibility.ts';

/** The part also has the name of the event type, because clients that list only event types fetch parts by them. */
export const groupsSnapshot: SnapshotPart = {
  types: ['realm_user_groups', 'user_group'],
  read: async (executor, { realmId, capabilities, viewer }) => {
    const groups = shownGroups(await readGroups(executor, realmId), capabilities);
    const hidden = await hiddenFrom(executor, realmId, viewer);
    return { realm_user_groups: groups.map((group) => withoutHidden(toGroup(group), hidden)) };
  },
  // Spectators see the roles of users, which are the system groups.
  spectators: async (executor, { realmId, capabilities }) => {
    const groups = shownGroups(await readGroups(executor, realmId), capabilities);
    return { realm_user_groups: groups.filter((group) => group.is_system).map(toGroup) };
  },
};

const shownGroups = (groups: readonly GroupRow[], { include_deactivated_groups }: SnapshotRequest['capabilities']) =>
  groups.filter((group) => include_deactivated_groups || !group.is_deactivated);
