import { sql, type Work } from '@natter/database';
import { endGrantedRights } from './account-rights.ts';
import { type AccountRow, accountColumns, accountRow } from './account-row.ts';
import { emitPerson } from './announce-account.ts';
import { announceBotChange } from './announce-bot.ts';
import { announcePermissionsNaming } from './announce-permissions.ts';
import { announceRevoked } from './api-keys.ts';
import { renewLeakedKeys } from './bot-key.ts';
import type { KeySeal } from './credentials/key-seal.ts';
import { endLinks } from './end-credentials.ts';
import { revokeInvitesOf } from './invitation-row.ts';
import { announceLeaving } from './membership.ts';
import { announceStatus } from './user-status.ts';

/**
 * Deactivates the user and their bots, which lose the rights that owners granted. The keys are refused at once; keys of
 * other users' bots that the user knows are replaced.
 */
export async function deactivate(work: Work, row: AccountRow, seal: KeySeal): Promise<void> {
  const bots = row.is_bot
    ? []
    : await work.any(sql.type(accountRow)`
        SELECT ${accountColumns} FROM users.account
        WHERE realm_id = ${work.realmId} AND bot_owner_id = ${row.id} AND is_bot AND is_active ORDER BY id FOR NO KEY UPDATE OF account`);
  const all = [...bots, row];
  for (const each of all) {
    await work.run(sql.unsafe`UPDATE users.account SET is_active = false WHERE id = ${each.id}`);
    emitPerson(work, { user_id: each.id, is_active: false });
    await announceStatus(work, each.id, false);
    if (each.is_bot) await endGrantedRights(work, { botId: each.id });
    if (each.is_bot) await announceBotChange(work, each, { is_active: false });
    await revokeInvitesOf(work, each.id);
    await endLinks(work, each.id);
    announceRevoked(work, each.id);
  }
  const ids = all.map(({ id }) => id);
  await announceLeaving(work, ids);
  await announcePermissionsNaming(work, ids, false);
  await renewLeakedKeys(work, seal);
}
