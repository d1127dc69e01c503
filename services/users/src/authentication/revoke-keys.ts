import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { announceKey } from '../model/announce-bot.ts';
import { announceRevoked } from '../model/api-keys.ts';

const botRow = z.object({ bot_owner_id: z.number().nullable() });

/**
 * Ends keys and sessions of a user: all, or the one with this ID. If the key of a bot that its owner is shown ends, the
 * owner is shown none.
 */
export async function revokeKeys(work: Work, userId: number, keyId?: number): Promise<number> {
  // First, as when the keys of a bot are replaced: such units run one after the other.
  const bot = await work.maybeOne(sql.type(botRow)`
    SELECT a.bot_owner_id FROM users.bot b JOIN users.account a ON a.id = b.user_id
    WHERE b.user_id = ${userId} FOR NO KEY UPDATE OF b`);
  const which = keyId === undefined ? sql.fragment`` : sql.fragment`AND id = ${keyId}`;
  const ended = await work.run(sql.unsafe`DELETE FROM users.api_key WHERE user_id = ${userId} ${which}`);
  announceRevoked(work, userId);
  // Keys that the operator's command made have no client and are not shown.
  const hidden =
    bot &&
    (await work.run(sql.unsafe`
      UPDATE users.bot SET sealed_key = '' WHERE user_id = ${userId} AND sealed_key <> ''
        AND NOT EXISTS (SELECT FROM users.api_key WHERE user_id = ${userId} AND client = 'bot')`));
  if (hidden && bot.bot_owner_id !== null) announceKey(work, userId, bot.bot_owner_id, '');
  return ended;
}
