import { hiddenFrom } from '../sight/sight.ts';
import type { SnapshotPart } from '../snapshot-part.ts';
import { readGroups, toGroup, withoutHidden } from './group-row.ts';

/** Also under the name of the event, since clients that name only event types fetch by them. */
export const groupsSnapshot: SnapshotPart = {
  types: ['realm_user_groups', 'user_group'],
  read: async (executor, { realmId, capabilities, viewer }) => {
    const groups = await readGroups(executor, realmId);
    const shown = groups.filter((group) => capabilities.include_deactivated_groups || !group.is_deactivated);
    const hidden = await hiddenFrom(executor, realmId, viewer);
    return { realm_user_groups: shown.map((group) => withoutHidden(toGroup(group), hidden)) };
  },
};
