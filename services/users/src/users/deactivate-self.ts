import { ChatError, roles, userOperations } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { changeOfGroups } from '../model/change.ts';
import { isLastOwner } from '../model/change-role.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { deactivate } from '../model/deactivate.ts';
import { lockAccount, noSuchUser } from '../model/find-account.ts';
import { lockRealm } from '../model/read-realm.ts';

export function deactivateSelfHandlers(seal: KeySeal): Handlers {
  return [
    handleWrite(userOperations.deactivateSelf, async (context) =>
      changeOfGroups(context, async (work) => {
        await lockRealm(work);
        const row = await lockAccount(work, context.actor.userId);
        if (!row) throw noSuchUser();
        if (row.role === roles.owner && (await isLastOwner(work, row.id))) throw lastOne(true, 'organization owner');
        if (await isLastUser(work, row.id)) throw lastOne(false, 'user');
        await deactivate(work, row, seal);
        return {};
      }),
    ),
  ];
}

async function isLastUser(work: Work, userId: number): Promise<boolean> {
  const other = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND is_active AND NOT is_bot AND id <> ${userId} LIMIT 1`);
  return other === undefined;
}

const lastOne = (is_last_owner: boolean, entity: string): ChatError =>
  new ChatError('CANNOT_DEACTIVATE_LAST_USER', `You can't deactivate your account: you are the only ${entity}.`, {
    is_last_owner,
    entity,
  });
