import { badRequest, roles, userOperations } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { changeRights } from '../model/account-rights.ts';
import type { AccountRow } from '../model/account-row.ts';
import { requireRank } from '../model/bot-rank.ts';
import { changeOfGroups } from '../model/change.ts';
import { changeEmail, checkNewEmail, mailAddressChange } from '../model/change-email.ts';
import { changeRole } from '../model/change-role.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { findAccount, noSuchUser } from '../model/find-account.ts';
import { changeFullName, checkedFullName } from '../model/full-name.ts';
import { requireOwner } from '../model/holder.ts';
import type { Mailer } from '../model/mail/mailer.ts';
import { changeProfileData, renderedValues } from '../model/profile-data.ts';
import { lockRealm } from '../model/read-realm.ts';

export function updateUserHandlers(owner: Owner, seal: KeySeal, mailer: Mailer): Handlers {
  return [
    handleWrite(userOperations.updateUser, async (context, params) => {
      const { user_id_or_email, full_name, role, profile_data, new_email, ...rights } = params;
      const name = full_name === undefined ? undefined : checkedFullName(full_name);
      const values = await renderedValues(owner.renderer, context.actor, profile_data ?? []);
      return changeOfGroups(context, async (work, holder) => {
        const realm = await lockRealm(work);
        const lock = sql.fragment`FOR NO KEY UPDATE OF account`;
        const row = await findAccount(work, work.realmId, user_id_or_email, { viewer: holder, lock });
        if (row.is_system_bot) throw noSuchUser();
        if (row.is_bot) requireRank(holder, row);
        if (new_email !== undefined) await requireEmailChanger(work, holder);
        if (Object.values(rights).some((right) => right !== undefined)) requireOwner(holder);
        if (name !== undefined && name !== row.full_name) await changeFullName(work, realm, row, name);
        await changeRights(work, row, rights, seal);
        if (role !== undefined) await changeRole(work, holder, { row, role }, seal);
        if (profile_data && row.is_bot) throw badRequest('Bots have no custom profile fields.');
        await changeProfileData(work, holder, row.id, values);
        if (new_email !== undefined && new_email !== row.email) {
          await requireNoPasswordNeeded(work, holder, row);
          await checkNewEmail(work, realm, new_email, row.id);
          await changeEmail(work, row, new_email);
          if (!row.is_bot)
            await mailAddressChange(work, realm, { row, after: new_email, mailer, personId: holder.userId });
        }
        return {};
      });
    }),
  ];
}

const changerRow = z.object({ can_change_user_emails: z.boolean(), bot_owner_id: z.number().nullable() });

const readChanger = (work: Work, userId: number): Promise<z.infer<typeof changerRow>> =>
  work.one(sql.type(changerRow)`
    SELECT can_change_user_emails, bot_owner_id FROM users.account WHERE id = ${userId}`);

async function requireEmailChanger(work: Work, holder: { userId: number; role: number }): Promise<void> {
  const { can_change_user_emails } = await readChanger(work, holder.userId);
  if (holder.role !== roles.owner || !can_change_user_emails)
    throw badRequest('User not authorized to change user emails');
}

/**
 * A key alone changes neither the address of its user nor that of a user with the same right. Otherwise a stolen key would
 * take over the account: directly by a link to set a password, or through the account of another such user. The role of
 * the other user does not matter, because an owner can change it first.
 */
async function requireNoPasswordNeeded(work: Work, holder: { userId: number }, row: AccountRow): Promise<void> {
  if (row.is_bot) return;
  const { bot_owner_id } = await readChanger(work, holder.userId);
  if (row.id === holder.userId || row.id === bot_owner_id)
    throw badRequest('Change your own address in your settings, with your password: PATCH /settings');
  if ((await readChanger(work, row.id)).can_change_user_emails)
    throw badRequest('Users who may change addresses of others change their own themselves: PATCH /settings');
}
