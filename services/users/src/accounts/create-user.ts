import { badRequest, roles, userOperations } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { insertKey } from '../authentication/authentication.ts';
import { checkPassword, createApiKey, hashPassword } from '../authentication/passwords.ts';
import { change } from '../change.ts';
import { requireAdministrator } from '../groups/holder.ts';
import { readRealm } from '../realm/read-realm.ts';
import { checkEmailForm, checkNewEmail } from './change-email.ts';
import { checkedFullName, requireUniqueName } from './full-name.ts';
import { insertAccount } from './insert-account.ts';

const creatorRow = z.object({ role: z.number(), can_create_users: z.boolean() });

export function createUserHandlers(owner: Owner): Handlers {
  const { database, unitOfWork } = owner;
  const requireCreator = async (executor: Executor, userId: number): Promise<void> => {
    const { role, can_create_users } = await executor.one(sql.type(creatorRow)`
      SELECT role, can_create_users FROM users.account WHERE id = ${userId}`);
    requireAdministrator({ role });
    if (!can_create_users) throw badRequest('User not authorized to create users');
  };
  return [
    handle(userOperations.createUser, async (context, params) => {
      const { email, password } = params;
      await requireCreator(database, context.actor.userId);
      const full_name = checkedFullName(params.full_name);
      checkEmailForm(email);
      checkPassword(password);
      const password_hash = await hashPassword(password);
      // The password is kept nowhere, also not in what a key stands for.
      return change(owner, context, async (work) => {
        await requireCreator(work, context.actor.userId);
        const realm = await readRealm(work, work.realmId);
        await checkNewEmail(work, realm, email);
        await requireUniqueName(work, realm, full_name);
        const person = await insertAccount(work, { email, full_name, password_hash, role: roles.member });
        return { user_id: person.user_id };
      });
    }),

    handle(userOperations.addPerson, async ({ meta }, params) => {
      const key = createApiKey();
      if (params.password !== undefined) checkPassword(params.password);
      checkEmailForm(params.email);
      const account = {
        email: params.email,
        full_name: checkedFullName(params.full_name),
        role: params.role,
        password_hash: params.password === undefined ? null : await hashPassword(params.password),
        can_create_users: params.can_create_users,
        can_change_user_emails: params.can_change_user_emails,
      };
      return unitOfWork({ realmId: meta.realmId, schema: 'users', claim: undefined }, async (work) => {
        const person = await insertAccount(work, account);
        await insertKey(work, meta.realmId, person.user_id, key);
        return { user_id: person.user_id, api_key: key };
      });
    }),
  ];
}
