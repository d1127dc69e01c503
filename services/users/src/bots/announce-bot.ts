import { type Audience, idSet } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { AccountRow } from '../accounts/account-row.ts';
import { administratorsAnd } from '../accounts/announce-account.ts';
import type { KeySeal } from '../authentication/key-seal.ts';
import { type BotRow, everyBot, readBots, toBot } from './bot-row.ts';

type Some = Exclude<Audience, 'realm'>;

/** To the owner and administrators; the realm is held, so that nobody becomes or ceases to be one meanwhile. */
export async function announceBotChange(
  work: Work,
  row: Pick<AccountRow, 'id' | 'bot_owner_id'>,
  changes: Record<string, unknown>,
): Promise<void> {
  const audience = await administratorsAnd(work, row.bot_owner_id);
  work.emit({ type: 'realm_bot', op: 'update', body: { bot: { user_id: row.id, ...changes } }, audience });
}

/** Tells one person, who is or was its owner, the key of a bot. Administrators read a key with a request of its own. */
export function announceKey(work: Work, botId: number, userId: number, api_key: string): void {
  const audience = { users: idSet([userId]) };
  work.emit({ type: 'realm_bot', op: 'update', body: { bot: { user_id: botId, api_key } }, audience });
}

/** The event holds the key only for the owner. */
export async function announceBot(work: Work, botId: number, audience: Some, seal: KeySeal): Promise<void> {
  const [bot] = await readBots(work, work.realmId, sql.fragment`account.id = ${botId}`);
  if (!bot) return;
  const owner = { users: idSet(bot.bot_owner_id === null ? [] : [bot.bot_owner_id]) };
  const variants = [{ audience: owner, patch: { bot: toBot(bot, seal.open(bot.sealed_key)) } }];
  work.emit({ type: 'realm_bot', op: 'add', body: { bot: toBot(bot, '') }, audience, variants });
}

/** A new administrator sees all bots; a former one only their own. */
export async function announceBotsTo(
  work: Work,
  audience: Some,
  userId: number,
  isAdministrator: boolean,
): Promise<void> {
  const emit = (bot: BotRow) =>
    isAdministrator
      ? work.emit({ type: 'realm_bot', op: 'add', body: { bot: toBot(bot, '') }, audience })
      : work.emit({ type: 'realm_bot', op: 'delete', body: { bot: { user_id: bot.id } }, audience });
  const others = sql.fragment`${everyBot} AND account.bot_owner_id IS DISTINCT FROM ${userId}`;
  for (const bot of await readBots(work, work.realmId, others)) emit(bot);
}
