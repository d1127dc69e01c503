import { messageReadingOperations, userOperations } from '@natter/contracts';
import { type Bus, type Handlers, handle, type Owner } from '@natter/service-kit';
import { toUser } from '../model/account-row.ts';
import { readAccount } from '../model/find-account.ts';
import { readProfileData } from '../model/profile-data.ts';
import { withProfile } from './get-users.ts';

export function getOwnUserHandlers({ database }: Owner, bus: Bus): Handlers {
  return [
    handle(userOperations.getOwnUser, async ({ actor, meta }) => {
      const row = await readAccount(database, actor.realmId, actor.userId);
      const { max_message_id } = await bus.call(
        messageReadingOperations.getMaxMessageId,
        { user_id: actor.userId },
        { meta },
      );
      const profiles = await readProfileData(database, actor.realmId, [actor.userId]);
      return { ...withProfile(toUser(row, actor, false), profiles), max_message_id };
    }),
  ];
}
