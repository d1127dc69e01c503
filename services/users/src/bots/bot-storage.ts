import { badRequest, collectionOperations } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { lockAccount } from '../model/find-account.ts';

/** Total length of keys and values, in characters. */
const maxCharacters = 10_000_000;
const itemRow = z.object({ key: z.string(), value: z.string() });

/** Key-value storage of a bot between its runs; separate for each bot. */
export function botStorageHandlers(owner: Owner): Handlers {
  return [
    handle(collectionOperations.getBotStorage, async ({ actor }, { keys }) => {
      const items = await read(owner.database, actor.userId, keys);
      return { storage: Object.fromEntries(items.map(({ key, value }) => [key, value])) };
    }),

    handleWrite(collectionOperations.updateBotStorage, async (context, params) => {
      const { userId } = context.actor;
      return context.write(async (work) => {
        await lockAccount(work, userId);
        await work.run(sql.unsafe`
          INSERT INTO users.bot_storage (user_id, key, value)
          SELECT ${userId}, i.key, i.value FROM json_each_text(${JSON.stringify(params.storage)}::json) i
          ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value`);
        const { size } = await work.one(sql.type(z.object({ size: z.number() }))`
          SELECT coalesce(sum(length(key) + length(value)), 0)::int AS size FROM users.bot_storage WHERE user_id = ${userId}`);
        if (size > maxCharacters)
          throw badRequest(
            `Request exceeds storage limit by ${size - maxCharacters} characters. The limit is ${maxCharacters} characters.`,
          );
        return {};
      });
    }),

    handleWrite(collectionOperations.deleteBotStorage, async (context, params) => {
      const { userId } = context.actor;
      return context.write(async (work) => {
        await lockAccount(work, userId);
        const items = await read(work, userId, params.keys);
        await work.run(sql.unsafe`
          DELETE FROM users.bot_storage WHERE user_id = ${userId} AND key = ANY(${sql.array(
            items.map(({ key }) => key),
            'text',
          )})`);
        return {};
      });
    }),
  ];
}

/** All entries, or those under the given keys, each of which must exist. */
async function read(
  executor: Executor,
  userId: number,
  keys: string[] | undefined,
): Promise<z.infer<typeof itemRow>[]> {
  const named = keys === undefined ? sql.fragment`true` : sql.fragment`key = ANY(${sql.array(keys, 'text')})`;
  const items = await executor.any(sql.type(itemRow)`
    SELECT key, value FROM users.bot_storage WHERE user_id = ${userId} AND ${named} ORDER BY key`);
  if (keys !== undefined && items.length < new Set(keys).size) throw badRequest('Key does not exist.');
  return items;
}
