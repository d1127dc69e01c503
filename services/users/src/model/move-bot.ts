import { type Bot, badRequest, type ChatError, idSet, roles, totals } from '@natter/contracts';
import { requireRoom, sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import { endGrantedRights } from './account-rights.ts';
import type { AccountRow } from './account-row.ts';
import { emitPerson } from './announce-account.ts';
import { announceBot, announceBotChange, announceKey } from './announce-bot.ts';
import { renewKey, resetServices } from './bot-key.ts';
import { toSelf } from './change.ts';
import { setRole } from './change-role.ts';
import type { KeySeal } from './credentials/key-seal.ts';
import { lockAccount } from './find-account.ts';
import { hiddenFrom } from './user-visibility.ts';

const noSuchOwner = (): ChatError => badRequest('Failed to change owner, no such user');

/** Before anything of the next owner is answered: of a user whom the holder may not see, nothing is. */
export async function requireVisibleOwner(work: Work, holder: Holder, ownerId: number): Promise<void> {
  if ((await hiddenFrom(work, work.realmId, holder)).has(ownerId)) throw noSuchOwner();
}

/**
 * Changes the owner of a bot, and returns the bot after the change:
 *
 * - Its role is lowered to that of the next owner.
 * - It gets a new key, and a new token for its endpoint, because the former owner knows the old ones.
 * - The address of its endpoint is emptied, because it may be a server of the former owner. The next owner enters one.
 * - It loses the right to send in the name of others, which was granted to a bot of the former owner.
 * - Its alert words are deleted.
 * - Messages that it scheduled fail when they are due, because the former owner may have written them.
 * - Its default channels are removed, because the next owner may not know their names.
 * - The former owner no longer sees it, unless they are an administrator.
 */
export async function moveBot<B extends AccountRow>(work: Work, bot: B, ownerId: number, seal: KeySeal): Promise<B> {
  if (bot.bot_owner_id === ownerId) return bot;
  const next = await lockAccount(work, ownerId);
  if (!next) throw noSuchOwner();
  if (!next.is_active) throw badRequest('Failed to change owner, user is deactivated');
  if (next.is_bot) throw badRequest("Failed to change owner, bots can't own other bots");
  await work.run(sql.unsafe`UPDATE users.account SET bot_owner_id = ${ownerId} WHERE id = ${bot.id}`);
  await requireRoomForOwned(work, ownerId);
  const noDefaults = await removeDefaultChannels(work, bot.id);
  await endGrantedRights(work, { botId: bot.id });
  // The alert words of a bot count against the limits of its owner.
  const words = await work.run(sql.unsafe`DELETE FROM users.alert_word WHERE user_id = ${bot.id}`);
  if (words > 0) work.emit(toSelf(bot.id, 'alert_words', { alert_words: [] }));
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
  await announceBotChange(work, { id: bot.id, bot_owner_id: null }, { owner_id: ownerId, ...noDefaults });
  emitPerson(work, { user_id: bot.id, bot_owner_id: ownerId });
  const moved = { ...bot, bot_owner_id: ownerId, has_granted_right: false, role: Math.max(bot.role, next.role) };
  await renewKey(work, moved, seal);
  await resetServices(work, bot.id);
  if (moved.role !== bot.role) await setRole(work, bot, moved.role);
  return moved;
}

/** The changes to announce. */
async function removeDefaultChannels(work: Work, botId: number): Promise<Partial<Bot>> {
  const none = { default_sending_stream: null, default_events_register_stream: null };
  const removed = await work.run(sql.unsafe`
    UPDATE users.bot SET default_sending_stream = NULL, default_events_register_stream = NULL
    WHERE user_id = ${botId} AND (default_sending_stream IS NOT NULL OR default_events_register_stream IS NOT NULL)`);
  return removed > 0 ? none : {};
}

/** Every change of a user's role changes their bots too, and their deactivation deactivates them. */
async function requireRoomForOwned(work: Work, ownerId: number): Promise<void> {
  const owned = sql.fragment`users.account WHERE is_bot AND bot_owner_id = ${ownerId}`;
  await requireRoom(work, totals.bots, sql.fragment`${owned} AND is_active`);
  await requireRoom(work, totals.botAccounts, owned);
}
