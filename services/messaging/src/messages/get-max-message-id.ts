import { messageReadingOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { newestReceived } from '../model/newest-message.ts';

export const newestMessageHandlers = ({ database }: Owner): Handlers => [
  handle(messageReadingOperations.getMaxMessageId, async ({ meta }, { user_id }) =>
    newestReceived(database, { realmId: meta.realmId, userId: user_id }),
  ),
];
