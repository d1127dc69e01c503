import { badRequest, type Form, missing, type RealmEmoji, realmOperations } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { change } from '../change.ts';
import { holderOf, mayIn } from '../groups/holder.ts';
import { readRealm } from './read-realm.ts';

const emojiRow = z.object({
  id: z.number(),
  name: z.string(),
  author_id: z.number().nullable(),
  is_deactivated: z.boolean(),
});

export function emojiHandlers(owner: Owner): Handlers {
  return [
    handle(realmOperations.getRealmEmoji, async ({ actor }) => ({
      emoji: await readEmoji(owner.database, actor.realmId),
    })),

    handle(realmOperations.removeRealmEmoji, async (context, { emoji_name }) =>
      change(owner, context, async (work) => {
        const { actor } = context;
        const holder = await holderOf(work, actor.userId);
        const realm = await readRealm(work, work.realmId);
        const emoji = await work.maybeOne(sql.type(emojiRow)`
          SELECT id, name, author_id, is_deactivated FROM users.realm_emoji
          WHERE realm_id = ${work.realmId} AND name = ${emoji_name} AND NOT is_deactivated FOR UPDATE`);
        if (!emoji) throw missing(`Emoji '${emoji_name}' does not exist`);
        const isOwn = emoji.author_id === actor.userId && mayIn(realm, 'can_add_custom_emoji_group', holder);
        if (!isOwn && holder.role > 200) throw badRequest('Must be an organization administrator or emoji author');
        await work.run(sql.unsafe`UPDATE users.realm_emoji SET is_deactivated = true WHERE id = ${emoji.id}`);
        await announceEmoji(work, emoji.id, false);
        return {};
      }),
    ),
  ];
}

export async function readEmoji(executor: Executor, realmId: number): Promise<Record<string, RealmEmoji>> {
  const rows = await executor.any(
    sql.type(
      emojiRow,
    )`SELECT id, name, author_id, is_deactivated FROM users.realm_emoji WHERE realm_id = ${realmId} ORDER BY id`,
  );
  return Object.fromEntries(
    rows.map((row) => [
      String(row.id),
      {
        id: String(row.id),
        name: row.name,
        source_url: `/user_avatars/emoji/${row.id}`,
        still_url: null,
        deactivated: row.is_deactivated,
        author_id: row.author_id,
      },
    ]),
  );
}

/** One after the other, so that the list which is told last is the one that stands. Who can is told of the one emoji alone. */
export async function announceEmoji(work: Work, id: number, isNew: boolean): Promise<void> {
  await work.run(sql.unsafe`SELECT pg_advisory_xact_lock(7310, ${work.realmId})`);
  const realm_emoji = await readEmoji(work, work.realmId);
  const emoji = realm_emoji[id];
  const one = isNew
    ? { op: 'add', body: { emoji } }
    : { op: 'update_one', body: { emoji_id: String(id), data: { deactivated: emoji?.deactivated } } };
  const only = (is: boolean): Form[] => [{ capability: 'individual_emoji_changes', is: !is, patch: null }];
  work.emit({ type: 'realm_emoji', op: 'update', body: { realm_emoji }, audience: 'realm', forms: only(false) });
  work.emit({ type: 'realm_emoji', ...one, audience: 'realm', forms: only(true), isForClientsOnly: true });
  // What is sent from now on is rendered with them.
  work.bump('realm');
}
