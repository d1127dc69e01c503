import { userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { changeRights } from '../model/account-rights.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { readAccount } from '../model/find-account.ts';
import { idOf } from '../model/id-of-email.ts';
import { lockRealm } from '../model/read-realm.ts';

export function grantRightsHandlers({ database, background }: Owner, seal: KeySeal): Handlers {
  return [
    handle(userOperations.grantRights, async ({ meta }, { email, ...rights }) => {
      const user_id = await idOf(database, meta.realmId, email);
      return background(meta.realmId, async (work) => {
        await lockRealm(work);
        await changeRights(work, await readAccount(work, meta.realmId, user_id), rights, seal);
        return { user_id };
      });
    }),
  ];
}
