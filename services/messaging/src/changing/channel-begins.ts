import { sql, type Work } from '@natter/database';
import { z } from 'zod';

const firstRow = z.object({ first: z.number().nullable() });

/**
 * After messages left a channel: tells the channels service with which one it begins now, if that has changed. One removal at a
 * time for a channel, so that each sees what those before it left.
 */
export async function tellWhereChannelBegins(
  work: Work,
  channelId: number,
  removedIds: readonly number[],
): Promise<void> {
  await work.run(sql.unsafe`SELECT pg_advisory_xact_lock(7307, ${channelId})`);
  const { first } = await work.one(sql.type(firstRow)`
    SELECT min(id) AS first FROM messaging.message WHERE realm_id = ${work.realmId} AND channel_id = ${channelId}`);
  if (first !== null && removedIds.every((id) => id > first)) return;
  const note = { channel_id: channelId, first_message_id: first };
  work.emit({ type: 'channel_begins', body: {}, audience: { users: { ids: [] } }, note });
}
