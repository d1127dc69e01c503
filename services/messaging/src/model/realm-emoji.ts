import { type Executor, sql } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import type { RealmEmoji } from './named-emoji.ts';

/** Maintains the projection of the realm's own emoji; the event contains all of them. */
export function realmEmojiConsumer(owner: Owner): void {
  owner.consume({
    name: 'realm-emoji',
    on: {
      'realm_emoji/update': async (work, { body }) => {
        for (const emoji of Object.values(body.realm_emoji))
          await work.run(sql.unsafe`
            INSERT INTO messaging.realm_emoji (realm_id, id, name, source_url, is_deactivated)
            VALUES (${work.realmId}, ${emoji.id}, ${emoji.name}, ${emoji.source_url}, ${emoji.deactivated})
            ON CONFLICT (realm_id, id) DO UPDATE SET name = excluded.name, source_url = excluded.source_url, is_deactivated = excluded.is_deactivated`);
      },
    },
  });
}

/** The realm's own active emoji. */
export async function readRealmEmoji(executor: Executor, realmId: number): Promise<RealmEmoji> {
  const rows = await executor.any(sql.type(z.object({ id: z.string(), name: z.string() }))`
    SELECT id, name FROM messaging.realm_emoji WHERE realm_id = ${realmId} AND NOT is_deactivated`);
  return {
    byName: (name) => rows.find((row) => row.name === name),
    byId: (id) => rows.find((row) => row.id === id),
  };
}
