import type { Audience } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { forgetReferences } from '../uploads/references.ts';
import { tellWhereChannelBegins } from './channel-begins.ts';
import { deletionEvents } from './delete-event.ts';

/** Tables that hang on a message; they go with it. */
const dependents = ['reaction', 'submessage', 'message_edit', 'arrival', 'flag', 'direct_message'] as const;

/** Deletes messages of one conversation with all that hangs on them, and tells who had them. */
export async function removeMessages(
  work: Work,
  where: { channelId: number; topic: string } | undefined,
  messageIds: readonly number[],
  audience: Audience,
): Promise<void> {
  if (messageIds.length === 0) return;
  const ids = sql.array([...messageIds], 'int8');
  for (const table of dependents)
    await work.run(
      sql.unsafe`DELETE FROM ${sql.identifier(['messaging', table])} WHERE realm_id = ${work.realmId} AND message_id = ANY(${ids})`,
    );
  await forgetReferences(work, messageIds);
  await work.run(sql.unsafe`DELETE FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ANY(${ids})`);
  if (where) await tellWhereChannelBegins(work, where.channelId, messageIds);
  for (const event of deletionEvents(where, messageIds, audience)) work.emit(event);
}
