import { badRequest, roles, userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { changeRole } from '../model/change-role.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { lockAccount } from '../model/find-account.ts';
import { idOf } from '../model/id-of-email.ts';
import { lockRealm } from '../model/read-realm.ts';

/** The operator may do what owners may. */
const operator = { userId: 0, role: roles.owner, groupIds: [] };

export function setUserRoleHandlers({ database, background }: Owner, seal: KeySeal): Handlers {
  return [
    handle(userOperations.setUserRole, async ({ meta }, { email, role }) => {
      const user_id = await idOf(database, meta.realmId, email);
      return background(meta.realmId, async (work) => {
        await lockRealm(work);
        const row = await lockAccount(work, user_id);
        if (!row) throw badRequest('No such user');
        await changeRole(work, operator, { row, role }, seal);
        return { user_id };
      });
    }),
  ];
}
