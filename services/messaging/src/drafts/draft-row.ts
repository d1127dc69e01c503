import { type Draft, emptyTopicDisplayName, idSet, type LogEvent } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

const draftRow = z.object({
  id: z.number(),
  type: z.enum(['private', 'stream', '']),
  to: z.array(z.number()),
  topic: z.string(),
  content: z.string(),
  edited_at: z.number(),
});

export const draftColumns = sql.fragment`id, type, recipient_ids AS "to", topic, content, edited_at`;
export const draftQuery = draftRow.transform(
  ({ edited_at, ...draft }): Draft => ({ ...draft, timestamp: Math.floor(edited_at) }),
);

/** A register carries no more than this many, the newest. */
const mostInRegister = 1_000;

export const draftsOf = (executor: Executor, realmId: number, userId: number): Promise<Draft[]> =>
  executor.any(sql.type(draftQuery)`
    SELECT ${draftColumns} FROM messaging.draft WHERE realm_id = ${realmId} AND user_id = ${userId} ORDER BY edited_at, id`);

export const newestDrafts = (executor: Executor, realmId: number, userId: number): Promise<Draft[]> =>
  executor.any(sql.type(draftQuery)`
    SELECT ${draftColumns} FROM messaging.draft WHERE realm_id = ${realmId} AND user_id = ${userId}
    ORDER BY edited_at DESC, id DESC LIMIT ${mostInRegister}`);

/** As clients without the `empty_topic_name` capability see it. */
export const withTopicName = (draft: Draft): Draft =>
  draft.type === 'stream' && draft.topic === '' ? { ...draft, topic: emptyTopicDisplayName } : draft;

export function draftsEvent(userId: number, op: 'add' | 'update', drafts: readonly Draft[]): LogEvent {
  const bodyOf = (list: readonly Draft[]): Record<string, unknown> =>
    op === 'add' ? { drafts: list } : { draft: list[0] };
  const named = drafts.map(withTopicName);
  const differs = named.some((draft, index) => draft !== drafts[index]);
  return {
    type: 'drafts',
    op,
    body: bodyOf(drafts),
    audience: { users: idSet([userId]) },
    ...(differs ? { forms: [{ capability: 'empty_topic_name', is: false, patch: bodyOf(named) }] } : {}),
  };
}
