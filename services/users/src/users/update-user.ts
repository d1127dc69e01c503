import { badRequest, roles, userOperations } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { changeRights } from '../model/account-rights.ts';
import { announceBotChange } from '../model/announce-bot.ts';
import { requireRank } from '../model/bot-rank.ts';
import { changeOfGroups } from '../model/change.ts';
import {
  type AddressChange,
  addressChange,
  changeEmail,
  checkNewEmail,
  mailAddressChange,
} from '../model/change-email.ts';
import { changeRole } from '../model/change-role.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { findAccount, noSuchUser } from '../model/find-account.ts';
import { changeFullName, checkedFullName, requireUniqueName } from '../model/full-name.ts';
import { holderOf, requireOwner } from '../model/holder.ts';
import type { Mailer } from '../model/mail/mailer.ts';
import { changeProfileData, renderedValues } from '../model/profile-data.ts';
import { lockRealm } from '../model/read-realm.ts';

export function updateUserHandlers(owner: Owner, seal: KeySeal, mailer: Mailer): Handlers {
  return [
    handleWrite(userOperations.updateUser, async (context, params) => {
      const { user_id_or_email, full_name, role, profile_data, new_email, can_create_users, can_forge_sender } = params;
      const name = full_name === undefined ? undefined : checkedFullName(full_name);
      const values = await renderedValues(owner.renderer, context.actor, profile_data ?? []);
      let moved: AddressChange | undefined;
      const answer = await changeOfGroups(context, async (work) => {
        moved = undefined;
        const holder = await holderOf(work, context.actor.userId);
        const realm = await lockRealm(work);
        const lock = sql.fragment`FOR NO KEY UPDATE OF account`;
        const row = await findAccount(work, work.realmId, user_id_or_email, holder, lock);
        if (row.is_system_bot) throw noSuchUser();
        if (row.is_bot) requireRank(holder, row);
        if (new_email !== undefined) await requireEmailChanger(work, holder);
        if (can_create_users !== undefined || can_forge_sender !== undefined) requireOwner(holder);
        if (name !== undefined && name !== row.full_name) {
          await requireUniqueName(work, realm, name, row.id);
          await changeFullName(work, row.id, name);
          if (row.is_bot) await announceBotChange(work, row, { full_name: name });
        }
        await changeRights(work, row, { can_create_users, can_forge_sender }, seal);
        if (role !== undefined) await changeRole(work, holder, row, role, seal);
        if (profile_data && row.is_bot) throw badRequest('Bots have no custom profile fields.');
        await changeProfileData(work, holder, row.id, values);
        if (new_email !== undefined && new_email !== row.email) {
          await checkNewEmail(work, realm, new_email, row.id);
          await changeEmail(work, row, new_email);
          if (!row.is_bot)
            moved = await addressChange(work, realm, { row, after: new_email, mailer, personId: holder.userId });
        }
        return {};
      });
      if (moved) mailAddressChange(mailer, moved);
      return answer;
    }),
  ];
}

async function requireEmailChanger(work: Work, holder: { userId: number; role: number }): Promise<void> {
  const { can_change_user_emails } = await work.one(sql.type(z.object({ can_change_user_emails: z.boolean() }))`
    SELECT can_change_user_emails FROM users.account WHERE id = ${holder.userId}`);
  if (holder.role !== roles.owner || !can_change_user_emails)
    throw badRequest('User not authorized to change user emails');
}
