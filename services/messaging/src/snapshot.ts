import { eventQueueOperations } from '@natter/contracts';
import { type Executor, inSnapshot, sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { draftsPart } from './drafts/drafts-part.ts';
import { remindersPart, scheduledMessagesPart } from './scheduling/scheduled-parts.ts';

export interface SnapshotFor {
  realmId: number;
  userId: number;
  capabilities: Record<string, boolean>;
}

/** What a register says under a fetch type; each reads tables of this service alone. */
const parts: Record<string, (executor: Executor, whom: SnapshotFor) => Promise<Record<string, unknown>>> = {
  message: maxMessageIdPart,
  drafts: draftsPart,
  scheduled_messages: scheduledMessagesPart,
  reminders: remindersPart,
};

export function snapshotHandlers({ database }: Owner): Handlers {
  return [
    handle(eventQueueOperations.snapshotMessaging, async ({ meta }, { snapshot, types, user_id, capabilities }) => {
      const wanted = Object.entries(parts).filter(([type]) => types === null || types.includes(type));
      if (wanted.length === 0) return {};
      const whom = { realmId: meta.realmId, userId: user_id, capabilities };
      return inSnapshot(database, snapshot, async (executor) => {
        const answer: Record<string, unknown> = {};
        for (const [, part] of wanted) Object.assign(answer, await part(executor, whom));
        return answer;
      });
    }),
  ];
}

async function maxMessageIdPart(executor: Executor, { realmId }: SnapshotFor): Promise<Record<string, unknown>> {
  const { id } = await executor.one(
    sql.type(
      z.object({ id: z.number().nullable() }),
    )`SELECT max(id) AS id FROM messaging.message WHERE realm_id = ${realmId}`,
  );
  return { max_message_id: id ?? -1 };
}
