import { badRequest, type Form, missing, realmOperations } from '@natter/contracts';
import { lock, sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { holderOf, mayIn } from '../model/holder.ts';
import { expectRealm } from '../model/permits.ts';
import { emojiRow, readEmoji } from '../model/realm-emoji.ts';

export function emojiHandlers(owner: Owner): Handlers {
  return [
    handle(realmOperations.getRealmEmoji, async ({ actor }) => ({
      emoji: await readEmoji(owner.database, actor.realmId),
    })),

    handleWrite(realmOperations.removeRealmEmoji, async (context, { emoji_name }) =>
      context.write(async (work) => {
        const { actor } = context;
        const holder = await holderOf(work, actor.userId);
        const realm = await expectRealm(work);
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

/**
 * Serialized, so that the last announced list is the final one. Clients that support it receive only the changed emoji.
 */
export async function announceEmoji(work: Work, id: number, isNew: boolean): Promise<void> {
  await lock(work, 'emoji');
  const realm_emoji = await readEmoji(work, work.realmId);
  const emoji = realm_emoji[id];
  if (!emoji) throw new Error(`No emoji ${id} in realm ${work.realmId}`);
  const only = (is: boolean): Form[] => [{ capability: 'individual_emoji_changes', is: !is, patch: null }];
  work.emit({ type: 'realm_emoji', op: 'update', body: { realm_emoji }, audience: 'realm', forms: only(false) });
  const alone = { type: 'realm_emoji', audience: 'realm', forms: only(true), isForClientsOnly: true } as const;
  const change = { emoji_id: emoji.id, data: { deactivated: emoji.deactivated } };
  if (isNew) work.emit({ ...alone, op: 'add', body: { emoji } });
  else work.emit({ ...alone, op: 'update_one', body: change });
  // Messages sent from now on are rendered with the new list.
  work.bump('realm');
}
