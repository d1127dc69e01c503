import { groupOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { readGroups, toGroup, withoutHidden } from '../model/group-row.ts';
import { hiddenFrom } from '../model/user-visibility.ts';

export function getUserGroupsHandlers(owner: Owner): Handlers {
  return [
    handle(groupOperations.getUserGroups, async ({ actor }, { include_deactivated_groups }) => {
      const groups = await readGroups(owner.database, actor.realmId);
      const shown = groups.filter((row) => include_deactivated_groups || !row.is_deactivated);
      const hidden = await hiddenFrom(owner.database, actor.realmId, actor);
      return { user_groups: shown.map((row) => withoutHidden(toGroup(row), hidden)) };
    }),
  ];
}
