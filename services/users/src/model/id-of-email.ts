import { badRequest } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** The ID of the account with this real address, for commands of the operator. */
export async function idOf(executor: Executor, realmId: number, email: string): Promise<number> {
  const account = await executor.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${realmId} AND lower(email) = lower(${email})`);
  if (!account) throw badRequest('No such user');
  return account.id;
}
