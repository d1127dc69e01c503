import { badRequest, idSet, roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { AccountRow } from '../accounts/account-row.ts';
import { emitPerson } from '../accounts/announce-account.ts';
import { lockAccount } from '../accounts/find-account.ts';
import type { KeySeal } from '../authentication/key-seal.ts';
import { announceBot, announceBotChange } from './announce-bot.ts';

/** Gives a bot to another person: the one before loses sight of it, unless they are an administrator. */
export async function moveBot(work: Work, bot: AccountRow, ownerId: number, seal: KeySeal): Promise<void> {
  if (bot.bot_owner_id === ownerId) return;
  const next = await lockAccount(work, ownerId);
  if (!next) throw badRequest('Failed to change owner, no such user');
  if (!next.is_active) throw badRequest('Failed to change owner, user is deactivated');
  if (next.is_bot) throw badRequest("Failed to change owner, bots can't own other bots");
  await work.run(sql.unsafe`UPDATE users.account SET bot_owner_id = ${ownerId} WHERE id = ${bot.id}`);
  const before = bot.bot_owner_id === null ? undefined : await lockAccount(work, bot.bot_owner_id);
  if (before && before.role > roles.administrator)
    work.emit({
      type: 'realm_bot',
      op: 'delete',
      body: { bot: { user_id: bot.id } },
      audience: { users: idSet([before.id]) },
    });
  if (next.role > roles.administrator) await announceBot(work, bot.id, { users: idSet([next.id]) }, seal);
  await announceBotChange(work, { id: bot.id, bot_owner_id: null }, { owner_id: ownerId });
  emitPerson(work, { user_id: bot.id, bot_owner_id: ownerId });
}
