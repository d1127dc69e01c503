import type { RealmEmoji } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

export const emojiRow = z.object({
  id: z.number(),
  name: z.string(),
  author_id: z.number().nullable(),
  is_deactivated: z.boolean(),
});

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
