import { badRequest, type User } from '@natter/contracts';
import { sql, sqlState, type Work } from '@natter/database';
import { accountColumns, accountRow, toUser } from './account-row.ts';
import { joinSystemGroups } from './groups/membership.ts';

export interface NewAccount {
  email: string;
  full_name: string;
  role: number;
  password_hash: string | null;
  is_bot?: boolean;
  is_system_bot?: boolean;
  can_create_users?: boolean;
  can_change_user_emails?: boolean;
  /** For other services, with the announcement: channels of the newcomer, who invited them, their welcome. */
  note?: Record<string, unknown>;
}

/** Inserts an account with its system groups and announces it. */
export async function insertAccount(work: Work, account: NewAccount): Promise<User> {
  const row = await work
    .one(sql.type(accountRow)`
    INSERT INTO users.account (realm_id, email, full_name, role, password_hash, is_bot, is_system_bot, bot_type, can_create_users, can_change_user_emails)
    VALUES (${work.realmId}, ${account.email}, ${account.full_name}, ${account.role}, ${account.password_hash}, ${account.is_bot ?? false},
      ${account.is_system_bot ?? false}, ${account.is_bot ? 1 : null}, ${account.can_create_users ?? false}, ${account.can_change_user_emails ?? false})
    RETURNING ${accountColumns}`)
    .catch((error: unknown) => {
      if (sqlState(error) === '23505') throw badRequest(`Email is already in use: '${account.email}'`);
      throw error;
    });
  const person = toUser(row, false);
  work.emit({
    type: 'realm_user',
    op: 'add',
    body: { person },
    audience: 'realm',
    ...(account.note ? { note: account.note } : {}),
  });
  if (!row.is_system_bot) await joinSystemGroups(work, row.id, row.role);
  return person;
}
