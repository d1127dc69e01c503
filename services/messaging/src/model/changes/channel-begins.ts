import { lockFor, sql, type Work } from '@natter/database';
import { z } from 'zod';

const positionRow = z.object({ number: z.number() });
const firstRow = z.object({ first: z.number().nullable() });

/**
 * After messages were removed from a channel, emits its first message for the channels service, if that has changed.
 * Removals from a channel are serialized, so that each reads the results of earlier ones. Sends are not: the event
 * contains the number after which sends may be missing.
 */
export async function emitChannelBegins(work: Work, channelId: number, removedIds: readonly number[]): Promise<void> {
  await lockFor(work, 'channel-begin', channelId);
  const { number: after } = await work.one(sql.type(positionRow)`SELECT number FROM log.position(${work.realmId})`);
  const { first } = await work.one(sql.type(firstRow)`
    SELECT min(id) AS first FROM messaging.message WHERE realm_id = ${work.realmId} AND channel_id = ${channelId}`);
  if (first !== null && removedIds.every((id) => id > first)) return;
  const note = { channel_id: channelId, first_message_id: first, after };
  work.emit({ type: 'channel_begins', body: {}, audience: { users: { ids: [] } }, note });
}
