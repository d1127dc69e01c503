import { badRequest, messageChangeOperations } from '@natter/contracts';
import type { RealmPolicies } from '@natter/realm-policy';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import type { MessageAccess } from '../model/message-access.ts';
import { activeAmong } from '../model/people.ts';
import { whoTurnedOff } from '../model/personal-settings.ts';
import { readersOf } from '../model/readers.ts';

/**
 * The users who have read a message, except its sender, deactivated users, users who disabled read receipts, and users
 * muted in either direction.
 */
export function readReceiptHandlers({ database }: Owner, access: MessageAccess, policies: RealmPolicies): Handlers {
  return [
    handle(messageChangeOperations.getReadReceipts, async ({ actor, meta }, { message_id }) => {
      const message = await access.readable(database, actor, meta, message_id);
      const { settings } = await policies.get(meta, true);
      if (!settings.enable_read_receipts) throw badRequest('Read receipts are disabled in this organization.');
      const readers = await readersOf(database, actor.realmId, message.id, actor.userId);
      const active = await activeAmong(database, actor.realmId, readers);
      const silent = await whoTurnedOff(database, actor.realmId, 'send_read_receipts', readers);
      return { user_ids: readers.filter((id) => active.has(id) && !silent.has(id)) };
    }),
  ];
}
