import { groupOperations } from '@natter/contracts';
import { type Bus, type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { deactivateGroup } from './deactivate-user-group.ts';

export function removeUserGroupHandlers(owner: Owner, bus: Bus): Handlers {
  return [
    handleWrite(groupOperations.removeUserGroup, (context, { user_group_id }) =>
      deactivateGroup(owner, bus, context, user_group_id),
    ),
  ];
}
