import { badRequest, ChatError, roles, userOperations } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { credentialsChanged } from '../authentication/authentication.ts';
import { endCredentials, endLinks } from '../authentication/end-credentials.ts';
import type { KeySeal } from '../authentication/key-seal.ts';
import { announceBotChange } from '../bots/announce-bot.ts';
import { renewKey, renewLeakedKeys } from '../bots/bot-key.ts';
import { requireRank } from '../bots/bot-rank.ts';
import { moveBot } from '../bots/move-bot.ts';
import { changeOfGroups } from '../change.ts';
import { holderOf, requireAdministrator, requireOwner } from '../groups/holder.ts';
import { announceLeaving, announceReturn } from '../groups/membership.ts';
import { revokeInvitesOf } from '../invitations/invitation-row.ts';
import type { Mailer } from '../mail/mailer.ts';
import { deactivatedMail } from '../mail/mails.ts';
import { lockRealm } from '../realm/read-realm.ts';
import { readSettings } from '../settings/stored-settings.ts';
import { announceStatus } from '../social/user-status.ts';
import { type AccountRow, accountColumns, accountRow } from './account-row.ts';
import { emitPerson } from './announce-account.ts';
import { isLastOwner } from './change-role.ts';
import { lockAccount, noSuchUser } from './find-account.ts';

export function deactivateHandlers(owner: Owner, seal: KeySeal, mailer: Mailer): Handlers {
  return [
    handle(userOperations.deactivateUser, async (context, params) => {
      let to: { email: string; language: string; realm: string } | undefined;
      const answer = await changeOfGroups(owner, context, async (work) => {
        to = undefined;
        const holder = await holderOf(work, context.actor.userId);
        requireAdministrator(holder);
        const realm = await lockRealm(work);
        const row = await lockAccount(work, params.user_id);
        if (!row || row.is_bot) throw noSuchUser();
        if (!row.is_active) return {};
        if (row.role === roles.owner) {
          requireOwner(holder);
          if (await isLastOwner(work, row.id)) throw badRequest('Cannot deactivate the only organization owner');
        }
        await deactivate(work, row, seal);
        const { default_language: language } = await readSettings(work, row.id);
        to = { email: row.email, language, realm: realm.settings.name };
        return {};
      });
      const comment = params.deactivation_notification_comment;
      if (to && comment !== undefined)
        mailer.notify(owner.database, {
          realmId: context.actor.realmId,
          kind: 'deactivation',
          personId: context.actor.userId,
          to: to.email,
          mail: deactivatedMail(to.language, { realm: to.realm, comment: comment.trim() }),
        });
      return answer;
    }),

    handle(userOperations.deactivateSelf, async (context) =>
      changeOfGroups(owner, context, async (work) => {
        await lockRealm(work);
        const row = await lockAccount(work, context.actor.userId);
        if (!row || row.is_bot) throw badRequest('This endpoint does not accept bot requests.');
        if (row.role === roles.owner && (await isLastOwner(work, row.id))) throw lastOne(true, 'organization owner');
        if (await isLastUser(work, row.id)) throw lastOne(false, 'user');
        await deactivate(work, row, seal);
        return {};
      }),
    ),

    handle(userOperations.reactivateUser, async (context, params) =>
      changeOfGroups(owner, context, async (work) => {
        const holder = await holderOf(work, context.actor.userId);
        requireAdministrator(holder);
        await lockRealm(work);
        const row = await lockAccount(work, params.user_id);
        if (!row) throw noSuchUser();
        if (row.is_active) return {};
        if (row.role === roles.owner) requireOwner(holder);
        if (row.is_bot) requireRank(holder, row);
        await endCredentials(work, row.id);
        await work.run(sql.unsafe`UPDATE users.account SET is_active = true WHERE id = ${row.id}`);
        emitPerson(work, { user_id: row.id, is_active: true });
        await announceStatus(work, row.id, true);
        if (row.is_bot) await returnBot(work, row, holder.userId, seal);
        await announceReturn(work, row.id);
        return {};
      }),
    ),
  ];
}

/** The person's bots end with them; the keys are refused at once, and so are those of other people's bots that they know. */
export async function deactivate(work: Work, row: AccountRow, seal: KeySeal): Promise<void> {
  const bots = row.is_bot
    ? []
    : await work.any(sql.type(accountRow)`
        SELECT ${accountColumns} FROM users.account
        WHERE realm_id = ${work.realmId} AND bot_owner_id = ${row.id} AND is_bot AND is_active ORDER BY id FOR NO KEY UPDATE OF account`);
  for (const each of [...bots, row]) {
    await work.run(sql.unsafe`UPDATE users.account SET is_active = false WHERE id = ${each.id}`);
    emitPerson(work, { user_id: each.id, is_active: false });
    await announceStatus(work, each.id, false);
    if (each.is_bot) await announceBotChange(work, each, { is_active: false });
    await announceLeaving(work, each.id);
    await revokeInvitesOf(work, each.id);
    await endLinks(work, each.id);
    work.emit(credentialsChanged(each.id));
  }
  await renewLeakedKeys(work, seal);
}

/** A bot whose owner is gone belongs to who brings it back. */
async function returnBot(work: Work, row: AccountRow, actingId: number, seal: KeySeal): Promise<void> {
  const owner = row.bot_owner_id === null ? undefined : await lockAccount(work, row.bot_owner_id);
  await announceBotChange(work, row, { is_active: true });
  if (owner?.is_active) await renewKey(work, row, seal);
  else await moveBot(work, row, actingId, seal);
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
