import { badRequest, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { lockAccount } from '../accounts/find-account.ts';
import { addKey } from './add-key.ts';
import { credentialsChanged } from './authentication.ts';
import { createApiKey } from './passwords.ts';

/** Keys as the operator's command gives and takes them. */
export function operatorKeyHandlers({ database, unitOfWork }: Owner): Handlers {
  const find = async (realmId: number, email: string): Promise<number> => {
    const account = await database.maybeOne(sql.type(z.object({ id: z.number() }))`
      SELECT id FROM users.account WHERE realm_id = ${realmId} AND lower(email) = lower(${email})`);
    if (!account) throw badRequest('No such user');
    return account.id;
  };
  return [
    handle(userOperations.issueApiKey, async ({ meta }, { email }) => {
      const key = createApiKey();
      const userId = await find(meta.realmId, email);
      await unitOfWork({ realmId: meta.realmId, schema: 'users', claim: undefined }, async (work) => {
        await lockAccount(work, userId);
        await addKey(work, userId, key);
      });
      return { api_key: key };
    }),

    handle(userOperations.revokeApiKeys, async ({ meta }, { email }) => {
      const userId = await find(meta.realmId, email);
      return unitOfWork({ realmId: meta.realmId, schema: 'users', claim: undefined }, async (work) => {
        const revoked = await work.run(sql.unsafe`DELETE FROM users.api_key WHERE user_id = ${userId}`);
        work.bump(`actor:${userId}`);
        work.emit(credentialsChanged(userId));
        return { revoked };
      });
    }),
  ];
}
