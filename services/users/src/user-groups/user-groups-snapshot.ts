import { readGroups, toGroup, withoutHidden } from '../model/group-row.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';
import { hiddenFrom } from '../model/user-visibility.ts';

/** Also under the name of the event type, because clients that name only event types fetch by those. */
export const groupsSnapshot: SnapshotPart = {
  types: ['realm_user_groups', 'user_group'],
  read: async (executor, { realmId, userId, capabilities, viewer }) => {
    const groups = await readGroups(executor, realmId);
    const shown = groups.filter(
      (group) =>
        (capabilities.include_deactivated_groups || !group.is_deactivated) &&
        // Spectators see the roles of users, which are the system groups.
        (userId !== undefined || group.is_system),
    );
    const hidden = await hiddenFrom(executor, realmId, viewer);
    return { realm_user_groups: shown.map((group) => withoutHidden(toGroup(group), hidden)) };
  },
};
