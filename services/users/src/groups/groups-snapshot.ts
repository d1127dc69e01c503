import type { SnapshotPart } from '../snapshot-part.ts';
import { readGroups, toGroup } from './group-row.ts';

/** Also under the name of the event, since clients that name only event types fetch by them. */
export const groupsSnapshot: SnapshotPart = {
  types: ['realm_user_groups', 'user_group'],
  read: async (executor, { realmId, capabilities }) => {
    const groups = await readGroups(executor, realmId);
    const shown = groups.filter((group) => capabilities.include_deactivated_groups || !group.is_deactivated);
    return { realm_user_groups: shown.map(toGroup) };
  },
};
