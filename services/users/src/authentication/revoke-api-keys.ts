import { userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { lockAccount } from '../model/find-account.ts';
import { idOf } from '../model/id-of-email.ts';
import { revokeKeys } from './revoke-keys.ts';

export function revokeApiKeysHandlers({ database, background }: Owner): Handlers {
  return [
    handle(userOperations.revokeApiKeys, async ({ meta }, { email }) => {
      const userId = await idOf(database, meta.realmId, email);
      return background(meta.realmId, async (work) => {
        // Keys that other units add are committed before this one deletes them.
        await lockAccount(work, userId);
        return { revoked: await revokeKeys(work, userId) };
      });
    }),
  ];
}
