import { badRequest, insufficientPermission, roles } from '@natter/contracts';
import type { Work } from '@natter/database';
import type { AccountRow } from './account-row.ts';
import { readAccount } from './find-account.ts';

/**
 * Refuses to read or change the key of a bot above the caller's own role. A bot with a right that an owner granted ranks as
 * an owner, except for the user it belongs to.
 */
export function requireRank(
  holder: { userId: number; role: number },
  bot: Pick<AccountRow, 'role' | 'bot_owner_id' | 'has_granted_right'>,
): void {
  const isForeign = bot.bot_owner_id !== holder.userId;
  const rank = bot.has_granted_right && isForeign ? roles.owner : bot.role;
  if (rank < holder.role) throw insufficientPermission();
}

/** A bot's role is never above its owner's, nor above that of the user who promotes it. */
export async function requireBotRole(
  work: Work,
  holder: { userId: number; role: number },
  bot: AccountRow,
  role: number,
): Promise<void> {
  requireRank(holder, bot);
  if (role < holder.role) throw insufficientPermission();
  if (bot.bot_owner_id === null) return;
  const owner = await readAccount(work, work.realmId, bot.bot_owner_id);
  if (role < owner.role) throw badRequest("The role of a bot can't be above that of its owner.");
}
