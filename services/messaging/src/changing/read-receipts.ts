import { badRequest, messageChangeOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner, type RealmPolicies } from '@natter/service-kit';
import type { MessageReach } from '../message-reach.ts';
import { findPeople } from '../people.ts';
import { whoTurnedOff } from '../personal-settings.ts';
import { readersOf } from './readers.ts';

/** Who has read a message: without its sender, who is gone, who keeps it to themselves, and who is muted either way. */
export function readReceiptHandlers({ database }: Owner, reach: MessageReach, policies: RealmPolicies): Handlers {
  return [
    handle(messageChangeOperations.getReadReceipts, async ({ actor, meta }, { message_id }) => {
      const message = await reach.readable(database, actor, meta, message_id);
      const { settings } = await policies.get(meta, true);
      if (!settings.enable_read_receipts) throw badRequest('Read receipts are disabled in this organization.');
      const readers = await readersOf(database, actor.realmId, message.id, actor.userId);
      const people = await findPeople(database, actor.realmId, readers);
      const silent = await whoTurnedOff(database, actor.realmId, 'send_read_receipts', readers);
      const shown = people.filter((person) => person.is_active && !silent.has(person.user_id));
      return { user_ids: shown.map((person) => person.user_id) };
    }),
  ];
}
