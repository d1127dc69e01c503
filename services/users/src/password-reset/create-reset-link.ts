import { badRequest, userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { realmDeactivated } from '../model/actors.ts';
import { newConfirmation } from '../model/confirmations.ts';
import { lockAccount } from '../model/find-account.ts';
import { idOf } from '../model/id-of-email.ts';
import { readRealm } from '../model/read-realm.ts';

/** Links for the operator, who passes them on. They are mailed to nobody, and not limited like requested ones. */
export function createResetLinkHandlers({ database, background }: Owner): Handlers {
  return [
    handle(userOperations.createResetLink, async ({ meta }, { email }) => {
      const { url, isDeactivated } = await readRealm(database, meta.realmId);
      if (isDeactivated) throw realmDeactivated();
      const user_id = await idOf(database, meta.realmId, email);
      return background(meta.realmId, async (work) => {
        const account = await lockAccount(work, user_id);
        if (!account?.is_active || account.is_bot) throw badRequest('Only active people have a password');
        const key = await newConfirmation(work, user_id, 'password', account.email);
        return { user_id, link: `${url}/accounts/password/reset/${key}` };
      });
    }),
  ];
}
