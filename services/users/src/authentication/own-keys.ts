import { badRequest, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, handleStored, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { giveOwnKey } from '../bots/bot-key.ts';
import { readBots } from '../bots/bot-row.ts';
import { change } from '../change.ts';
import { credentialsChanged, insertKey } from './authentication.ts';
import type { KeySeal } from './key-seal.ts';
import { createApiKey } from './passwords.ts';

const keyRow = z.object({ id: z.number(), client: z.string(), created_at: z.date(), hash: z.string() });

/** A person has a key per login; each ends alone, or all at once. */
export function ownKeyHandlers(owner: Owner, seal: KeySeal): Handlers {
  return [
    handle(userOperations.getApiKeys, async ({ actor }) => {
      const rows = await owner.database.any(sql.type(keyRow)`
        SELECT id, client, created_at, encode(hash, 'hex') AS hash FROM users.api_key WHERE user_id = ${actor.userId} ORDER BY id`);
      return {
        api_keys: rows.map(({ id, client, created_at, hash }) => ({
          id,
          client,
          date_created: Math.floor(created_at.getTime() / 1000),
          is_current: hash === actor.keyId,
        })),
      };
    }),

    handle(userOperations.revokeApiKey, async (context, params) =>
      change(owner, context, async (work) => {
        const { userId } = context.actor;
        const ended = await work.run(
          sql.unsafe`DELETE FROM users.api_key WHERE user_id = ${userId} AND id = ${params.key_id}`,
        );
        if (ended === 0) throw badRequest('No such API key');
        work.bump(`actor:${userId}`);
        work.emit(credentialsChanged(userId));
        return {};
      }),
    ),

    handleStored(
      userOperations.regenerateApiKey,
      async (context) => {
        const { actor, meta } = context;
        const api_key = createApiKey();
        const sealed_key = seal.seal(api_key);
        return change(owner, context, async (work) => {
          const [bot] = actor.isBot
            ? await readBots(work, work.realmId, sql.fragment`account.id = ${actor.userId}`)
            : [];
          if (bot) {
            await giveOwnKey(work, bot, { api_key, sealed_key });
            return { sealed_key };
          }
          await work.run(sql.unsafe`DELETE FROM users.api_key WHERE user_id = ${actor.userId}`);
          await insertKey(work, actor.realmId, actor.userId, api_key, meta.client);
          work.bump(`actor:${actor.userId}`);
          work.emit(credentialsChanged(actor.userId));
          return { sealed_key };
        });
      },
      ({ sealed_key }) => ({ api_key: seal.open(sealed_key) }),
    ),
  ];
}
