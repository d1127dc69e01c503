import { roles } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { announceBotChange, announceKey } from './announce-bot.ts';
import { announceRevoked, insertKey } from './api-keys.ts';
import { type BotRow, readBots } from './bot-row.ts';
import type { KeySeal } from './credentials/key-seal.ts';
import { createApiKey } from './credentials/passwords.ts';
import { hasGrantedRight } from './granted-rights.ts';

interface NewKey {
  api_key: string;
  sealed_key: string;
}

/**
 * Replaces all keys of a bot by a new one, which no reader of an earlier key knows; its owner's clients are notified.
 */
export async function giveKey(work: Work, bot: Pick<BotRow, 'id' | 'bot_owner_id'>, key: NewKey): Promise<void> {
  await work.run(sql.unsafe`UPDATE users.bot SET key_readers = '{}' WHERE user_id = ${bot.id}`);
  await giveOwnKey(work, bot, key);
}

/**
 * A key that a bot regenerates itself. The readers of the earlier key stay recorded, because one of them may have sent
 * the request.
 */
export async function giveOwnKey(work: Work, bot: Pick<BotRow, 'id' | 'bot_owner_id'>, key: NewKey): Promise<void> {
  // First, so that the row is locked: units that replace the keys of a bot do so one after the other.
  await work.run(sql.unsafe`UPDATE users.bot SET sealed_key = ${key.sealed_key} WHERE user_id = ${bot.id}`);
  await endKeys(work, bot.id);
  await insertKey(work, { realmId: work.realmId, userId: bot.id }, key.api_key, 'bot');
  if (bot.bot_owner_id !== null) announceKey(work, bot.id, bot.bot_owner_id, key.api_key);
}

export async function renewKey(work: Work, bot: Pick<BotRow, 'id' | 'bot_owner_id'>, seal: KeySeal): Promise<void> {
  const api_key = createApiKey();
  await giveKey(work, bot, { api_key, sealed_key: seal.seal(api_key) });
}

/**
 * Empties the addresses of the endpoints of a bot, which receive its messages and answer as the bot. Replaces the tokens
 * that prove to the endpoints that a request comes from the server.
 */
export async function resetServices(work: Work, botId: number): Promise<void> {
  const [bot] = await readBots(work, work.realmId, sql.fragment`account.id = ${botId}`);
  if (!bot || bot.services.length === 0) return;
  const services = bot.services.map((service) => ({ ...service, base_url: '', token: createApiKey() }));
  await work.run(
    sql.unsafe`UPDATE users.bot SET services = ${JSON.stringify(services)}::jsonb WHERE user_id = ${botId}`,
  );
  await announceBotChange(work, bot, { services });
}

async function endKeys(work: Work, userId: number): Promise<void> {
  await work.run(sql.unsafe`DELETE FROM users.api_key WHERE user_id = ${userId}`);
  announceRevoked(work, userId);
}

/**
 * Records that a user other than the owner knows the key. The key is replaced when that user may no longer read it or
 * is deactivated.
 */
export const noteReader = (bot: BotRow, userId: number) =>
  sql.unsafe`UPDATE users.bot SET key_readers = array_append(key_readers, ${userId})
    WHERE user_id = ${bot.id} AND ${userId} <> ALL(key_readers) AND ${bot.bot_owner_id ?? 0} <> ${userId}`;

/** The lowest role whose users may read the key of a bot that is not theirs; `requireRank` refuses the others. */
const leastReader = sql.fragment`CASE WHEN ${hasGrantedRight} THEN ${roles.owner} ELSE least(account.role, ${roles.administrator}) END`;

/**
 * After a change of roles or rights, or a deactivation: gives a new key to bots whose key is known to a user who may not read it
 * now.
 */
export async function renewLeakedKeys(work: Work, seal: KeySeal): Promise<void> {
  const leaked = sql.fragment`account.is_active AND EXISTS (
    SELECT FROM users.account r WHERE r.id = ANY(b.key_readers) AND (NOT r.is_active OR r.role > ${leastReader}))`;
  for (const bot of await readBots(work, work.realmId, leaked)) await renewKey(work, bot, seal);
}
