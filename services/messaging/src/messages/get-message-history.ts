import { badRequest, emptyTopicDisplayName, maxHistoryBytes, messageChangeOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import type { RealmPolicies } from '@natter/realm-policy';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import type { MessageAccess } from '../model/message-access.ts';
import { editSnapshots, editsOf } from '../model/reading/edit-snapshots.ts';

const currentRow = z.object({
  sender_id: z.number(),
  channel_id: z.number().nullable(),
  sent: z.number(),
  topic: z.string(),
  content: z.string(),
  rendered_content: z.string(),
});

export function historyHandlers({ database }: Owner, access: MessageAccess, policies: RealmPolicies): Handlers {
  return [
    handle(messageChangeOperations.getMessageHistory, async ({ actor, meta }, params) => {
      const { settings } = await policies.get(meta, true);
      const policy = settings.message_edit_history_visibility_policy;
      if (policy === 'none') throw badRequest('Message edit history is disabled in this organization');
      const { id } = await access.readable(database, actor, meta, params.message_id);
      const current = await database.maybeOne(sql.type(currentRow)`
        SELECT sender_id, channel_id, extract(epoch FROM coalesce(stated_at, sent_at))::float8 AS sent, topic, content, rendered_content
        FROM messaging.message WHERE realm_id = ${actor.realmId} AND id = ${id}`);
      if (!current) throw badRequest('Invalid message(s)');
      const edits = await database.any(editsOf(actor.realmId, [id]));
      const snapshots = await editSnapshots(current, edits, { policy, maxBytes: maxHistoryBytes });
      if (params.allow_empty_topic_name || current.channel_id === null) return { message_history: snapshots };
      const shown = (topic: string): string => (topic === '' ? emptyTopicDisplayName : topic);
      return {
        message_history: snapshots.map((snapshot) => ({
          ...snapshot,
          topic: shown(snapshot.topic),
          ...(snapshot.prev_topic === undefined ? {} : { prev_topic: shown(snapshot.prev_topic) }),
        })),
      };
    }),
  ];
}
