import { userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { announceRevoked } from '../model/api-keys.ts';
import { lockAccount } from '../model/find-account.ts';
import { idOf } from '../model/id-of-email.ts';

export function revokeApiKeysHandlers({ database, background }: Owner): Handlers {
  return [
    handle(userOperations.revokeApiKeys, async ({ meta }, { email }) => {
      const userId = await idOf(database, meta.realmId, email);
      return background(meta.realmId, async (work) => {
        // Keys that other units add are committed before this one deletes them.
        await lockAccount(work, userId);
        const revoked = await work.run(sql.unsafe`DELETE FROM users.api_key WHERE user_id = ${userId}`);
        announceRevoked(work, userId);
        return { revoked };
      });
    }),
  ];
}
