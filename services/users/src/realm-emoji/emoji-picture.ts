import { realmOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { imagePage, noImage } from '../model/images/image.ts';

export function emojiPictureHandlers(owner: Owner): Handlers {
  return [
    handle(realmOperations.emojiPicture, async ({ meta }, { emoji_id }) => {
      const row = await owner.database.maybeOne(sql.type(pictureRow)`
        SELECT content_type, picture FROM users.realm_emoji WHERE realm_id = ${meta.realmId} AND id = ${emoji_id}`);
      return row ? imagePage({ contentType: row.content_type, bytes: row.picture }) : noImage;
    }),
  ];
}

const pictureRow = z.object({ content_type: z.string(), picture: z.instanceof(Buffer) });
