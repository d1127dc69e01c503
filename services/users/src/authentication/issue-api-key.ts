import { userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { createApiKey } from '../model/credentials/passwords.ts';
import { lockAccount } from '../model/find-account.ts';
import { idOf } from '../model/id-of-email.ts';
import { addKey } from './add-key.ts';

/** Keys issued and revoked by the operator's command. */
export function operatorKeyHandlers({ database, background }: Owner): Handlers {
  return [
    handle(userOperations.issueApiKey, async ({ meta }, { email }) => {
      const key = createApiKey();
      const userId = await idOf(database, meta.realmId, email);
      await background(meta.realmId, async (work) => {
        await lockAccount(work, userId);
        await addKey(work, userId, key);
      });
      return { api_key: key };
    }),
  ];
}
