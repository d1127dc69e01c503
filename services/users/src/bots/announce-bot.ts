import type { Audience } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { AccountRow } from '../accounts/account-row.ts';
import { administratorsAnd } from '../accounts/announce-account.ts';
import type { KeySeal } from '../authentication/key-seal.ts';
import { everyBot, readBots, toBot } from './bot-row.ts';

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

export async function announceBot(work: Work, botId: number, audience: Some, seal: KeySeal): Promise<void> {
  const [bot] = await readBots(work, work.realmId, sql.fragment`account.id = ${botId}`);
  if (bot) work.emit({ type: 'realm_bot', op: 'add', body: { bot: toBot(bot, seal) }, audience });
}

/** Whoever became an administrator sees all bots; whoever is none any more, only their own. */
export async function announceBotsTo(
  work: Work,
  audience: Some,
  userId: number,
  isAdministrator: boolean,
  seal: KeySeal,
): Promise<void> {
  const others = sql.fragment`${everyBot} AND account.bot_owner_id IS DISTINCT FROM ${userId}`;
  for (const bot of await readBots(work, work.realmId, others))
    if (isAdministrator) work.emit({ type: 'realm_bot', op: 'add', body: { bot: toBot(bot, seal) }, audience });
    else work.emit({ type: 'realm_bot', op: 'delete', body: { bot: { user_id: bot.id } }, audience });
}
