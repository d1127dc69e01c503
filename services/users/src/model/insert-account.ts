import { badRequest, type NewcomerNote, type User } from '@natter/contracts';
import { duplicateAs, sql, type Work } from '@natter/database';
import { type AccountRow, accountColumns, accountRow, roleThatSees, toUser } from './account-row.ts';
import { whoSees } from './announce-account.ts';
import { endInvitesFor } from './invitation-row.ts';
import { joinSystemGroups } from './membership.ts';
import { initialSettings } from './stored-settings.ts';
import { announceStatus } from './user-status.ts';

export interface NewAccount {
  email: string;
  full_name: string;
  role: number;
  password_hash: string | null;
  is_bot?: boolean;
  is_system_bot?: boolean;
  bot_type?: number;
  bot_owner_id?: number;
  can_create_users?: boolean;
  can_change_user_emails?: boolean;
  /** Data for other services in the announcement: channels, inviter and welcome of the new user. */
  note?: Omit<NewcomerNote, 'delivery_email' | 'settings'>;
}

/**
 * Inserts an account (a trigger notes the owner of a bot as its creator) with its system groups and the realm's default
 * settings, announces it, and ends the invitations for its address. A person's account locks the realm in shared mode before
 * it is inserted; whoever decides by the realm's rules locks it before.
 */
export async function insertAccount(work: Work, account: NewAccount): Promise<User> {
  const settings = account.is_bot ? {} : await initialSettings(work);
  const bot_type = account.is_bot ? (account.bot_type ?? 1) : null;
  const row = await work
    .one(sql.type(accountRow)`
    INSERT INTO users.account (realm_id, email, full_name, role, password_hash, is_bot, is_system_bot, bot_type, bot_owner_id, can_create_users, can_change_user_emails, settings)
    VALUES (${work.realmId}, ${account.email}, ${account.full_name}, ${account.role}, ${account.password_hash}, ${account.is_bot ?? false},
      ${account.is_system_bot ?? false}, ${bot_type}, ${account.bot_owner_id ?? null}, ${account.can_create_users ?? false},
      ${account.can_change_user_emails ?? false}, ${JSON.stringify(settings)}::jsonb)
    RETURNING ${accountColumns}`)
    .catch(duplicateAs(() => badRequest(`Email is already in use: '${account.email}'`)));
  await announceAccount(work, row, { ...account.note, delivery_email: row.email, settings });
  if (!row.is_system_bot) await joinSystemGroups(work, [row.id], row.role);
  // The realm's defaults may make new users invisible.
  await announceStatus(work, row.id, true);
  if (!row.is_bot) await endInvitesFor(work, row.email);
  return toUser(row, { userId: row.id, role: row.role }, false);
}

/** Only users who may see the address receive it; other services read it from the note. */
async function announceAccount(work: Work, row: AccountRow, note: NewcomerNote): Promise<void> {
  const user = toUser(row, { userId: row.id, role: row.role }, false);
  const known = row.is_bot ? user : { ...user, profile_data: {} };
  const isOpen = row.is_bot || row.visibility === 1;
  const person = isOpen ? known : { ...known, delivery_email: null };
  const variants = isOpen
    ? {}
    : { variants: [{ audience: await whoSees(work, roleThatSees(row.visibility), row.id), patch: { person: known } }] };
  work.emit({ type: 'realm_user', op: 'add', body: { person }, audience: 'realm', ...variants, note });
}
