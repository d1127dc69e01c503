import { groupOperations } from '@natter/contracts';
import { type Bus, type Handlers, handle, type Owner } from '@natter/service-kit';
import { hiddenFrom } from '../sight/sight.ts';
import { createGroupHandlers } from './create-group.ts';
import { deactivateGroupHandlers } from './deactivate-group.ts';
import { readGroups, toGroup, withoutHidden } from './group-row.ts';
import { memberHandlers } from './members.ts';
import { subgroupHandlers } from './subgroups.ts';
import { updateGroupHandlers } from './update-group.ts';

export const groupHandlers = (owner: Owner, bus: Bus): Handlers => [
  handle(groupOperations.getUserGroups, async ({ actor }, { include_deactivated_groups }) => {
    const groups = await readGroups(owner.database, actor.realmId);
    const shown = groups.filter((row) => include_deactivated_groups || !row.is_deactivated);
    const hidden = await hiddenFrom(owner.database, actor.realmId, actor);
    return { user_groups: shown.map((row) => withoutHidden(toGroup(row), hidden)) };
  }),
  ...createGroupHandlers(owner),
  ...updateGroupHandlers(owner, bus),
  ...deactivateGroupHandlers(owner, bus),
  ...memberHandlers(owner),
  ...subgroupHandlers(owner),
];
