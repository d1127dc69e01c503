import { type Actor, badRequest, botStorage, type ChatError, collectionOperations } from '@natter/contracts';
import { lockFor, sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { ownAccounts, personOf } from '../model/own-accounts.ts';

const itemRow = z.object({ key: z.string(), value: z.string() });

/** Key-value storage of a bot between its runs; separate for each bot. */
export function botStorageHandlers(owner: Owner): Handlers {
  return [
    handle(collectionOperations.getBotStorage, async ({ actor }, { keys }) => {
      const items = await owner.database.any(sql.type(itemRow)`
        SELECT key, value FROM users.bot_storage WHERE user_id = ${actor.userId} AND ${named(keys)} ORDER BY key`);
      requireAll(items.length, keys);
      return { storage: Object.fromEntries(items.map(({ key, value }) => [key, value])) };
    }),

    handleWrite(collectionOperations.updateBotStorage, async (context, params) => {
      const { userId } = context.actor;
      return context.write(async (work) => {
        await lockStorage(work, userId);
        const before = await sizesFor(work, context.actor);
        await work.run(sql.unsafe`
          INSERT INTO users.bot_storage (user_id, key, value)
          SELECT ${userId}, i.key, i.value FROM json_each_text(${JSON.stringify(params.storage)}::json) i
          ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value`);
        requireRoomInStorage(before, await sizesFor(work, context.actor));
        return {};
      });
    }),

    handleWrite(collectionOperations.deleteBotStorage, async (context, { keys }) => {
      const { userId } = context.actor;
      return context.write(async (work) => {
        await lockStorage(work, userId);
        const removed = await work.run(
          sql.unsafe`DELETE FROM users.bot_storage WHERE user_id = ${userId} AND ${named(keys)}`,
        );
        requireAll(removed, keys);
        return {};
      });
    }),
  ];
}

const named = (keys: string[] | undefined) =>
  keys === undefined ? sql.fragment`true` : sql.fragment`key = ANY(${sql.array(keys, 'text')})`;

/** Each named key must exist. */
function requireAll(found: number, keys: string[] | undefined): void {
  if (keys !== undefined && found < new Set(keys).size) throw badRequest('Key does not exist.');
}

const idRow = z.object({ id: z.number() });

/** The limits of a person include all of their bots. */
async function lockStorage(work: Work, userId: number): Promise<void> {
  const { id } = await work.one(sql.type(idRow)`SELECT ${personOf(userId)} AS id`);
  await lockFor(work, 'bot-storage', id);
}

const sizeRow = z.object({ entries: z.number(), bytes: z.number() });
type Size = z.infer<typeof sizeRow>;

/** The storage of this bot, and of all bots of its person. */
interface Sizes {
  own: Size;
  all: Size;
}

/** Triggers keep the sizes, so no entry is read here. */
async function sizesFor(work: Work, actor: Actor): Promise<Sizes> {
  const sizeOf = (accounts: ReturnType<typeof sql.fragment>) =>
    work.one(sql.type(sizeRow)`
      SELECT coalesce(sum(entries), 0)::int AS entries, coalesce(sum(bytes), 0)::float8 AS bytes
      FROM users.bot_storage_size WHERE user_id IN ${accounts}`);
  return { own: await sizeOf(sql.fragment`(${actor.userId})`), all: await sizeOf(ownAccounts(actor)) };
}

/** A storage above a limit, from before the limit or of a bot that was given away, may shrink. */
function requireRoomInStorage(before: Sizes, after: Sizes): void {
  const isOver = (whose: keyof Sizes, what: keyof Size, limit: number): boolean =>
    after[whose][what] > limit && after[whose][what] > before[whose][what];
  const { ofPerson } = botStorage;
  if (isOver('own', 'entries', botStorage.entries)) throw tooMany('this bot', botStorage.entries);
  if (isOver('own', 'bytes', botStorage.bytes))
    throw badRequest(
      `Request exceeds storage limit by ${after.own.bytes - botStorage.bytes} bytes. The limit is ${botStorage.bytes} bytes.`,
    );
  if (isOver('all', 'entries', ofPerson.entries)) throw tooMany('all bots of one user', ofPerson.entries);
  if (isOver('all', 'bytes', ofPerson.bytes))
    throw badRequest(`Too much text in the storage of all bots of one user (limit: ${ofPerson.bytes} bytes)`);
}

const tooMany = (what: string, limit: number): ChatError =>
  badRequest(`Too many entries in the storage of ${what} (limit: ${limit})`);
