import { badRequest, roles, userOperations } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { checkEmailForm, checkNewEmail } from '../model/change-email.ts';
import { checkPassword, hashPassword } from '../model/credentials/passwords.ts';
import { checkedFullName, requireUniqueName } from '../model/full-name.ts';
import { insertAccount } from '../model/insert-account.ts';
import { lockRealmForNewcomer } from '../model/read-realm.ts';

const creatorRow = z.object({ can_create_users: z.boolean() });

export function createUserHandlers(owner: Owner): Handlers {
  const { database } = owner;
  const requireCreator = async (executor: Executor, userId: number): Promise<void> => {
    const { can_create_users } = await executor.one(sql.type(creatorRow)`
      SELECT can_create_users FROM users.account WHERE id = ${userId}`);
    if (!can_create_users) throw badRequest('User not authorized to create users');
  };
  return [
    handleWrite(userOperations.createUser, async (context, params) => {
      const { email, password } = params;
      await requireCreator(database, context.actor.userId);
      const full_name = checkedFullName(params.full_name);
      checkEmailForm(email);
      checkPassword(password);
      const password_hash = await hashPassword(password, context);
      // Only the hash of the password is stored; the fingerprint of the request is keyed with a secret.
      return context.write(async (work) => {
        const realm = await lockRealmForNewcomer(work);
        await requireCreator(work, context.actor.userId);
        await checkNewEmail(work, realm, email);
        await requireUniqueName(work, realm, full_name);
        const person = await insertAccount(work, { email, full_name, password_hash, role: roles.member });
        return { user_id: person.user_id };
      });
    }),
  ];
}
