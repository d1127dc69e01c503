import { badRequest, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, handleStored, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { announceRevoked, insertKey } from '../model/api-keys.ts';
import { giveOwnKey } from '../model/bot-key.ts';
import { readBots } from '../model/bot-row.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { createApiKey } from '../model/credentials/passwords.ts';
import { lockAccount } from '../model/find-account.ts';
import { revokeKeys } from './revoke-keys.ts';

const keyRow = z.object({
  id: z.number(),
  client: z.string(),
  created_at: z.date(),
  hash: z.string(),
  is_session: z.boolean(),
});

/** A user has a key or a session per login; each can be revoked alone, or all at once. */
export function ownKeyHandlers(owner: Owner, seal: KeySeal): Handlers {
  return [
    handle(userOperations.getApiKeys, async ({ actor }) => {
      const rows = await owner.database.any(sql.type(keyRow)`
        SELECT id, client, created_at, encode(hash, 'hex') AS hash, expires_at IS NOT NULL AS is_session
        FROM users.api_key WHERE user_id = ${actor.userId} AND (expires_at IS NULL OR expires_at > now()) ORDER BY id`);
      return {
        api_keys: rows.map(({ id, client, created_at, hash, is_session }) => ({
          id,
          client,
          date_created: Math.floor(created_at.getTime() / 1000),
          is_current: hash === actor.keyId,
          is_session,
        })),
      };
    }),

    handleWrite(userOperations.revokeApiKey, async (context, params) =>
      context.write(async (work) => {
        if ((await revokeKeys(work, context.actor.userId, params.key_id)) === 0) throw badRequest('No such API key');
        return {};
      }),
    ),

    handleStored(
      userOperations.regenerateApiKey,
      async (context) => {
        const { actor, meta } = context;
        const api_key = createApiKey();
        const sealed_key = seal.seal(api_key);
        return context.write(async (work) => {
          // A password reset, or a revocation of all keys, ends the new key too if it is committed later.
          await lockAccount(work, actor.userId);
          const [bot] = actor.isBot
            ? await readBots(work, work.realmId, sql.fragment`account.id = ${actor.userId}`)
            : [];
          if (bot) {
            await giveOwnKey(work, bot, { api_key, sealed_key });
            return { sealed_key };
          }
          // Deletes the keys and the sessions of the user, except the session of this request.
          await work.run(sql.unsafe`
            DELETE FROM users.api_key
            WHERE user_id = ${actor.userId} AND (expires_at IS NULL OR hash <> decode(${actor.keyId}, 'hex'))`);
          await insertKey(work, actor, api_key, meta.client);
          announceRevoked(work, actor.userId);
          return { sealed_key };
        });
      },
      ({ sealed_key }) => ({ api_key: seal.open(sealed_key) }),
    ),
  ];
}
