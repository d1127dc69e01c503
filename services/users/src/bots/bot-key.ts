import { roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { credentialsChanged, insertKey } from '../authentication/authentication.ts';
import type { KeySeal } from '../authentication/key-seal.ts';
import { createApiKey } from '../authentication/passwords.ts';
import { announceKey } from './announce-bot.ts';
import { type BotRow, readBots } from './bot-row.ts';

interface NewKey {
  api_key: string;
  sealed_key: string;
}

/** The only key of a bot from now on, known to nobody who read an earlier one; its owner's clients hear of it. */
export async function giveKey(work: Work, bot: Pick<BotRow, 'id' | 'bot_owner_id'>, key: NewKey): Promise<void> {
  await work.run(sql.unsafe`UPDATE users.bot SET key_readers = '{}' WHERE user_id = ${bot.id}`);
  await giveOwnKey(work, bot, key);
}

/** A key that a bot gives itself. The readers of the earlier key stay noted: one of them may have sent the request. */
export async function giveOwnKey(work: Work, bot: Pick<BotRow, 'id' | 'bot_owner_id'>, key: NewKey): Promise<void> {
  await endKeys(work, bot.id);
  await insertKey(work, work.realmId, bot.id, key.api_key, 'bot');
  await work.run(sql.unsafe`UPDATE users.bot SET sealed_key = ${key.sealed_key} WHERE user_id = ${bot.id}`);
  if (bot.bot_owner_id !== null) announceKey(work, bot.id, bot.bot_owner_id, key.api_key);
}

export async function renewKey(work: Work, bot: Pick<BotRow, 'id' | 'bot_owner_id'>, seal: KeySeal): Promise<void> {
  const api_key = createApiKey();
  await giveKey(work, bot, { api_key, sealed_key: seal.seal(api_key) });
}

async function endKeys(work: Work, userId: number): Promise<void> {
  await work.run(sql.unsafe`DELETE FROM users.api_key WHERE user_id = ${userId}`);
  work.bump(`actor:${userId}`);
  work.emit(credentialsChanged(userId));
}

/** Remembers that somebody other than the owner knows the key, which ends when they may no longer read it or are deactivated. */
export const noteReader = (bot: BotRow, userId: number) =>
  sql.unsafe`UPDATE users.bot SET key_readers = array_append(key_readers, ${userId})
    WHERE user_id = ${bot.id} AND ${userId} <> ALL(key_readers) AND ${bot.bot_owner_id ?? 0} <> ${userId}`;

/** After a change of roles or an end of accounts: gives a new key to bots whose key is known to somebody who may not read it now. */
export async function renewLeakedKeys(work: Work, seal: KeySeal): Promise<void> {
  const leaked = sql.fragment`account.is_active AND EXISTS (
    SELECT FROM users.account r WHERE r.id = ANY(b.key_readers) AND (NOT r.is_active OR r.role > least(account.role, ${roles.administrator})))`;
  for (const bot of await readBots(work, work.realmId, leaked)) await renewKey(work, bot, seal);
}
