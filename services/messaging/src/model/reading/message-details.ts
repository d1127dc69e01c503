import type { UnreadDetails } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { isMentioned } from '../read-state.ts';
import { inHome } from './scope.ts';

const detailRow = z.object({
  id: z.number(),
  channel_id: z.number().nullable(),
  topic: z.string(),
  recipient_ids: z.array(z.number()).nullable(),
  is_mentioned: z.boolean().nullable(),
  is_home: z.boolean(),
});

/** The data that a client needs to count messages that became unread and that it may not have loaded. */
export async function messageDetails(
  work: Work,
  userId: number,
  messageIds: readonly number[],
): Promise<Record<string, UnreadDetails>> {
  const ids = sql.array([...messageIds], 'int8');
  const rows = await work.any(sql.type(detailRow)`
    SELECT m.id, m.channel_id, m.topic, m.recipient_ids, ${isMentioned(userId)} AS is_mentioned, ${inHome(userId)} AS is_home
    FROM messaging.message m WHERE m.realm_id = ${work.realmId} AND m.id = ANY(${ids})`);
  return Object.fromEntries(rows.map((row): [string, UnreadDetails] => [String(row.id), detailsOf(row, userId)]));
}

function detailsOf(row: z.infer<typeof detailRow>, userId: number): UnreadDetails {
  const mentioned = row.is_mentioned ? { mentioned: true as const } : {};
  if (row.channel_id === null)
    return { ...mentioned, type: 'private', user_ids: (row.recipient_ids ?? []).filter((id) => id !== userId) };
  const home = row.is_home ? { unmuted_stream_msg: true } : {};
  return { ...mentioned, type: 'stream', stream_id: row.channel_id, topic: row.topic, ...home };
}
