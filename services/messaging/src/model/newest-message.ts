import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** The newest message that a user received, or -1; direct messages of others are excluded. */
export async function newestReceived(
  executor: Executor,
  { realmId, userId }: { realmId: number; userId: number },
): Promise<{ max_message_id: number }> {
  const { id } = await executor.one(sql.type(z.object({ id: z.number().nullable() }))`
    SELECT greatest(
      (SELECT max(message_id) FROM messaging.direct_message WHERE realm_id = ${realmId} AND user_id = ${userId}),
      (SELECT max(l.id) FROM messaging.subscription_period p CROSS JOIN LATERAL (
        SELECT m.id FROM messaging.message m WHERE m.realm_id = p.realm_id AND m.sent_channel_id = p.channel_id
          AND m.id > p.from_id AND (p.to_id IS NULL OR m.id < p.to_id) ORDER BY m.id DESC LIMIT 1) l
        WHERE p.realm_id = ${realmId} AND p.user_id = ${userId})) AS id`);
  return { max_message_id: id ?? -1 };
}
