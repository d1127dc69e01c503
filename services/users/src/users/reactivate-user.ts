import { roles, userOperations } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handleWrite } from '@natter/service-kit';
import type { AccountRow } from '../model/account-row.ts';
import { emitPerson } from '../model/announce-account.ts';
import { announceBotChange } from '../model/announce-bot.ts';
import { announcePermissionsNaming } from '../model/announce-permissions.ts';
import { renewKey } from '../model/bot-key.ts';
import { requireRank } from '../model/bot-rank.ts';
import { changeOfGroups } from '../model/change.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { endCredentials } from '../model/end-credentials.ts';
import { lockAccount, noSuchUser } from '../model/find-account.ts';
import { requireFreeName } from '../model/free-name.ts';
import { requireOwner } from '../model/holder.ts';
import { announceReturn } from '../model/membership.ts';
import { moveBot } from '../model/move-bot.ts';
import { lockRealm } from '../model/read-realm.ts';
import { announceStatus } from '../model/user-status.ts';

export function reactivateUserHandlers(seal: KeySeal): Handlers {
  return [
    handleWrite(userOperations.reactivateUser, async (context, params) =>
      changeOfGroups(context, async (work, holder) => {
        await lockRealm(work);
        const row = await lockAccount(work, params.user_id);
        if (!row) throw noSuchUser();
        if (row.is_active) return {};
        if (row.role === roles.owner) requireOwner(holder);
        if (row.is_bot) {
          requireRank(holder, row);
          await requireFreeName(work, row.full_name, row.id, nameTaken(row.full_name));
        }
        await endCredentials(work, row.id);
        await work.run(sql.unsafe`UPDATE users.account SET is_active = true WHERE id = ${row.id}`);
        emitPerson(work, { user_id: row.id, is_active: true });
        await announceStatus(work, row.id, true);
        if (row.is_bot) await returnBot(work, row, holder.userId, seal);
        await announceReturn(work, row.id);
        await announcePermissionsNaming(work, [row.id], true);
        return {};
      }),
    ),
  ];
}

const nameTaken = (name: string): string =>
  `There is already an active bot named "${name}" in this organization. To reactivate this bot, you must rename or deactivate the other one first.`;

/** A bot whose owner is deactivated is assigned to the user who reactivates it. */
async function returnBot(work: Work, row: AccountRow, actingId: number, seal: KeySeal): Promise<void> {
  const owner = row.bot_owner_id === null ? undefined : await lockAccount(work, row.bot_owner_id);
  await announceBotChange(work, row, { is_active: true });
  if (owner?.is_active) await renewKey(work, row, seal);
  else await moveBot(work, row, actingId, seal);
}
