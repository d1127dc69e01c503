import { type Actor, badRequest, type RequestMeta, refusedAs } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import type { ChannelAccess } from './channel-access.ts';
import type { PostingRules } from './channel-cache.ts';
import { hasProtectedHistory, sees } from './subscription-periods.ts';

const messageRow = z.object({
  id: z.number(),
  sender_id: z.number(),
  sender_name: z.string(),
  channel_id: z.number().nullable(),
  sent_channel_id: z.number().nullable(),
  recipient_ids: z.array(z.number()).nullable(),
  topic: z.string(),
  content: z.string(),
  /** Seconds since 1970. */
  sent: z.number(),
});
export type ReadableMessage = z.infer<typeof messageRow> & { channel?: PostingRules };

export interface MessageAccess {
  /** A message that the actor may read; any other is answered like one that does not exist. */
  readable(executor: Executor, actor: Actor, meta: RequestMeta, messageId: number): Promise<ReadableMessage>;
}

export function createMessageAccess(access: ChannelAccess): MessageAccess {
  return {
    async readable(executor, actor, meta, messageId) {
      const row = await executor.maybeOne(sql.type(messageRow)`
        SELECT m.id, m.sender_id, coalesce(p.full_name, '') AS sender_name, m.channel_id, m.sent_channel_id, m.recipient_ids, m.topic, m.content, extract(epoch FROM m.sent_at)::float8 AS sent
        FROM messaging.message m LEFT JOIN messaging.person p ON p.realm_id = m.realm_id AND p.user_id = m.sender_id
        WHERE m.realm_id = ${actor.realmId} AND m.id = ${messageId}`);
      if (!row) throw invalid();
      if (row.channel_id === null) {
        if (!row.recipient_ids?.includes(actor.userId)) throw invalid();
        return row;
      }
      const channel = await access.readable(actor, meta, row.channel_id).catch(refusedAs(invalid));
      if (hasProtectedHistory(channel) && !(await sees(executor, actor.realmId, row.id, actor.userId))) throw invalid();
      return { ...row, channel };
    },
  };
}

/** Messages of an archived channel are read, not changed: for a change they are answered like ones that do not exist. */
export function requireChangeable(channel: Pick<PostingRules, 'is_archived'> | undefined): void {
  if (channel?.is_archived) throw invalid();
}

const invalid = () => badRequest('Invalid message(s)');
