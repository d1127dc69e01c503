import { badRequest, isAdministrator, realmOperations, totals } from '@natter/contracts';
import { duplicateAs, requireRoom, requireShare, sql } from '@natter/database';
import { unicodeEmoji } from '@natter/markdown';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { holderOf } from '../model/holder.ts';
import { checkedImage } from '../model/images/image.ts';
import { ownAccounts } from '../model/own-accounts.ts';
import { announceEmoji } from './realm-emoji.ts';

export function uploadEmojiHandlers(): Handlers {
  return [
    handleWrite(realmOperations.addRealmEmoji, async (context, { emoji_name, file }) => {
      const name = checkedEmojiName(emoji_name);
      const { contentType, bytes } = checkedImage(file);
      return context.write(async (work) => {
        const holder = await holderOf(work, context.actor.userId);
        if (unicodeEmoji(name) !== undefined && !isAdministrator(holder))
          throw badRequest('Only administrators can override default emoji.');
        const { id } = await work
          .one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.realm_emoji (realm_id, name, author_id, content_type, picture)
            VALUES (${work.realmId}, ${name}, ${holder.userId}, ${contentType}, decode(${bytes.toString('base64')}, 'base64')) RETURNING id`)
          .catch(duplicateAs(() => badRequest('A custom emoji with this name already exists.')));
        const size = sql.fragment`octet_length(picture)`;
        const ofRealm = sql.fragment`users.realm_emoji WHERE realm_id = ${work.realmId}`;
        if (!isAdministrator(holder))
          await requireShare(
            work,
            totals.emoji,
            sql.fragment`${ofRealm} AND author_id IN ${ownAccounts(context.actor)}`,
            size,
          );
        await requireRoom(work, totals.emoji, ofRealm, size);
        await announceEmoji(work, id, true);
        return {};
      });
    }),
  ];
}

function checkedEmojiName(given: string): string {
  const name = given.trim().toLowerCase().replaceAll(' ', '_');
  if (!/^[0-9a-z_-]*[0-9a-z]$/.test(name))
    throw badRequest(
      'Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores, and end with a letter or digit.',
    );
  if (name.length > 100) throw badRequest('emoji_name is too long (limit: 100 characters)');
  return name;
}
