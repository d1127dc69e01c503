import { userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { insertKey } from '../model/api-keys.ts';
import { checkEmailForm } from '../model/change-email.ts';
import { checkPassword, createApiKey, hashPassword } from '../model/credentials/passwords.ts';
import { checkedFullName } from '../model/full-name.ts';
import { insertAccount } from '../model/insert-account.ts';

export function addPersonHandlers(owner: Owner): Handlers {
  const { background } = owner;
  return [
    handle(userOperations.addPerson, async ({ meta }, params) => {
      const key = createApiKey();
      if (params.password !== undefined) checkPassword(params.password);
      checkEmailForm(params.email);
      const account = {
        email: params.email,
        full_name: checkedFullName(params.full_name),
        role: params.role,
        password_hash: params.password === undefined ? null : await hashPassword(params.password, { meta }),
        can_create_users: params.can_create_users,
        can_change_user_emails: params.can_change_user_emails,
      };
      return background(meta.realmId, async (work) => {
        const person = await insertAccount(work, account);
        await insertKey(work, { realmId: meta.realmId, userId: person.user_id }, key);
        return { user_id: person.user_id, api_key: key };
      });
    }),
  ];
}
