import { badRequest, type User } from '@natter/contracts';
import { sql, sqlState, type Work } from '@natter/database';
import { accountColumns, accountRow, toUser } from './account-row.ts';
import { systemGroupsOfRole } from './system-groups.ts';

export interface NewAccount {
  email: string;
  full_name: string;
  role: number;
  password_hash: string | null;
  is_bot?: boolean;
  is_system_bot?: boolean;
  can_create_users?: boolean;
  can_change_user_emails?: boolean;
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
  await joinSystemGroups(work, row.id, row.role);
  const person = toUser(row, false);
  work.emit({ type: 'realm_user', op: 'add', body: { person }, audience: 'realm' });
  return person;
}

export async function joinSystemGroups(work: Work, userId: number, role: number): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO users.group_member (group_id, user_id)
    SELECT id, ${userId} FROM users.user_group WHERE realm_id = ${work.realmId} AND name = ANY(${sql.array([...systemGroupsOfRole(role)], 'text')})`);
}

export async function leaveSystemGroups(work: Work, userId: number): Promise<void> {
  await work.run(sql.unsafe`
    DELETE FROM users.group_member m USING users.user_group g
    WHERE m.group_id = g.id AND g.is_system AND g.realm_id = ${work.realmId} AND m.user_id = ${userId}`);
}
