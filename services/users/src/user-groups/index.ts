import type { Bus, Handlers, Owner } from '@natter/service-kit';
import { createGroupHandlers } from './create-user-group.ts';
import { deactivateGroupHandlers } from './deactivate-user-group.ts';
import { getUserGroupsHandlers } from './get-user-groups.ts';
import { removeUserGroupHandlers } from './remove-user-group.ts';
import { subgroupHandlers } from './subgroups.ts';
import { updateGroupHandlers } from './update-user-group.ts';
import { memberHandlers } from './user-group-members.ts';

export const groupHandlers = (owner: Owner, bus: Bus): Handlers => [
  ...getUserGroupsHandlers(owner),
  ...createGroupHandlers(),
  ...updateGroupHandlers(owner, bus),
  ...deactivateGroupHandlers(owner, bus),
  ...removeUserGroupHandlers(owner, bus),
  ...memberHandlers(owner),
  ...subgroupHandlers(owner),
];
