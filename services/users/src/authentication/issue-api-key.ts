import { badRequest, userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { realmDeactivated } from '../model/actors.ts';
import { createApiKey } from '../model/credentials/passwords.ts';
import { lockAccount } from '../model/find-account.ts';
import { idOf } from '../model/id-of-email.ts';
import { readRealm } from '../model/read-realm.ts';
import { addKey } from './add-key.ts';

/** Keys issued and revoked by the operator's command. */
export function operatorKeyHandlers({ database, background }: Owner): Handlers {
  return [
    handle(userOperations.issueApiKey, async ({ meta }, { email }) => {
      if ((await readRealm(database, meta.realmId)).isDeactivated) throw realmDeactivated();
      const key = createApiKey();
      const userId = await idOf(database, meta.realmId, email);
      await background(meta.realmId, async (work) => {
        const account = await lockAccount(work, userId);
        if (!account?.is_active) throw badRequest('Only active users have keys');
        await addKey(work, userId, key);
      });
      return { api_key: key };
    }),
  ];
}
