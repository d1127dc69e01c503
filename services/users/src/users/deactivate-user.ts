import { badRequest, roles, userOperations } from '@natter/contracts';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { changeOfGroups } from '../model/change.ts';
import { isLastOwner } from '../model/change-role.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { deactivate } from '../model/deactivate.ts';
import { lockAccount, noSuchUser } from '../model/find-account.ts';
import { requireOwner } from '../model/holder.ts';
import type { Mailer } from '../model/mail/mailer.ts';
import { deactivatedMail } from '../model/mail/mails.ts';
import { lockRealm } from '../model/read-realm.ts';
import { readSettings } from '../model/stored-settings.ts';

export function deactivateHandlers(seal: KeySeal, mailer: Mailer): Handlers {
  return [
    handleWrite(userOperations.deactivateUser, (context, params) =>
      changeOfGroups(context, async (work, holder) => {
        const realm = await lockRealm(work);
        const row = await lockAccount(work, params.user_id);
        if (!row || row.is_bot) throw noSuchUser();
        if (!row.is_active) return {};
        if (row.role === roles.owner) {
          requireOwner(holder);
          if (await isLastOwner(work, row.id)) throw badRequest('Cannot deactivate the only organization owner');
        }
        await deactivate(work, row, seal);
        const comment = params.deactivation_notification_comment;
        if (comment === undefined) return {};
        const { default_language: language } = await readSettings(work, row.id);
        await mailer.notify(work, {
          kind: 'deactivation',
          by: { personId: context.actor.userId },
          to: row.email,
          mail: deactivatedMail(language, { realm: realm.settings.name, comment: comment.trim() }),
        });
        return {};
      }),
    ),
  ];
}
