import { badRequest, idSet, roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { AccountRow } from '../accounts/account-row.ts';
import { emitPerson } from '../accounts/announce-account.ts';
import { setRole } from '../accounts/change-role.ts';
import { lockAccount } from '../accounts/find-account.ts';
import type { KeySeal } from '../authentication/key-seal.ts';
import { announceBot, announceBotChange, announceKey } from './announce-bot.ts';
import { renewKey } from './bot-key.ts';

/**
 * Gives a bot to another person: it is lowered to their role and gets a new key, because the person before knows the old one.
 * That person loses sight of it, unless they are an administrator. Gives the bot as it is then.
 */
export async function moveBot<B extends AccountRow>(work: Work, bot: B, ownerId: number, seal: KeySeal): Promise<B> {
  if (bot.bot_owner_id === ownerId) return bot;
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
  else if (before) announceKey(work, bot.id, before.id, '');
  if (next.role > roles.administrator) await announceBot(work, bot.id, { users: idSet([next.id]) });
  await announceBotChange(work, { id: bot.id, bot_owner_id: null }, { owner_id: ownerId });
  emitPerson(work, { user_id: bot.id, bot_owner_id: ownerId });
  const moved = { ...bot, bot_owner_id: ownerId, role: Math.max(bot.role, next.role) };
  await renewKey(work, moved, seal);
  if (moved.role !== bot.role) await setRole(work, bot, moved.role, seal);
  return moved;
}
