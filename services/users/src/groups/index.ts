import { groupOperations } from '@natter/contracts';
import { type Bus, type Handlers, handle, type Owner } from '@natter/service-kit';
import { createGroupHandlers } from './create-group.ts';
import { deactivateGroupHandlers } from './deactivate-group.ts';
import { readGroups, toGroup } from './group-row.ts';
import { memberHandlers } from './members.ts';
import { subgroupHandlers } from './subgroups.ts';
import { updateGroupHandlers } from './update-group.ts';

export const groupHandlers = (owner: Owner, bus: Bus): Handlers => [
  handle(groupOperations.getUserGroups, async ({ actor }, { include_deactivated_groups }) => {
    const groups = await readGroups(owner.database, actor.realmId);
    return { user_groups: groups.filter((row) => include_deactivated_groups || !row.is_deactivated).map(toGroup) };
  }),
  ...createGroupHandlers(owner),
  ...updateGroupHandlers(owner, bus),
  ...deactivateGroupHandlers(owner, bus),
  ...memberHandlers(owner),
  ...subgroupHandlers(owner),
];
