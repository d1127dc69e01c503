import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { inHome } from '../reading/scope.ts';
import { isMentioned } from './read-state.ts';

const detailRow = z.object({
  id: z.number(),
  channel_id: z.number().nullable(),
  topic: z.string(),
  recipient_ids: z.array(z.number()).nullable(),
  is_mentioned: z.boolean().nullable(),
  is_home: z.boolean(),
});

/** What a client needs to count messages that became unread and that it may not have (events 2.1). */
export async function messageDetails(
  work: Work & Executor,
  userId: number,
  messageIds: readonly number[],
): Promise<Record<string, Record<string, unknown>>> {
  const rows = await work.any(sql.type(detailRow)`
    SELECT m.id, m.channel_id, m.topic, m.recipient_ids, ${isMentioned(userId)} AS is_mentioned, ${inHome(userId)} AS is_home
    FROM messaging.message m WHERE m.realm_id = ${work.realmId} AND m.id = ANY(${sql.array([...messageIds], 'int8')})`);
  return Object.fromEntries(
    rows.map((row) => [
      String(row.id),
      {
        ...(row.is_mentioned ? { mentioned: true } : {}),
        ...(row.channel_id === null
          ? { type: 'private', user_ids: (row.recipient_ids ?? []).filter((id) => id !== userId) }
          : {
              type: 'stream',
              stream_id: row.channel_id,
              topic: row.topic,
              ...(row.is_home ? { unmuted_stream_msg: true } : {}),
            }),
      },
    ]),
  );
}
