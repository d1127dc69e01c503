import { type Draft, emptyTopicDisplayName, eventForUsers, type Form, type LogEvent } from '@natter/contracts';
import { type Executor, lockFor, sql, type Work } from '@natter/database';
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

/** Maximum number in a register; the newest are kept. */
const mostInRegister = 1_000;

export const draftsOf = (executor: Executor, realmId: number, userId: number): Promise<Draft[]> =>
  executor.any(sql.type(draftQuery)`
    SELECT ${draftColumns} FROM messaging.draft WHERE realm_id = ${realmId} AND user_id = ${userId} ORDER BY edited_at, id`);

export const newestDrafts = (executor: Executor, realmId: number, userId: number): Promise<Draft[]> =>
  executor.any(sql.type(draftQuery)`
    SELECT ${draftColumns} FROM messaging.draft WHERE realm_id = ${realmId} AND user_id = ${userId}
    ORDER BY edited_at DESC, id DESC LIMIT ${mostInRegister}`);

/** The form for clients without the `empty_topic_name` capability. */
export const withTopicName = (draft: Draft): Draft =>
  draft.type === 'stream' && draft.topic === '' ? { ...draft, topic: emptyTopicDisplayName } : draft;

export function draftsAdded(userId: number, drafts: Draft[]): LogEvent {
  const named = drafts.map(withTopicName);
  const differs = named.some((draft, index) => draft !== drafts[index]);
  return { ...eventForUsers('drafts/add', { drafts }, [userId]), ...formsOf(differs, { drafts: named }) };
}

export function draftUpdated(userId: number, draft: Draft): LogEvent {
  const named = withTopicName(draft);
  return { ...eventForUsers('drafts/update', { draft }, [userId]), ...formsOf(named !== draft, { draft: named }) };
}

const formsOf = (differs: boolean, patch: Record<string, unknown>): { forms?: Form[] } =>
  differs ? { forms: [{ capability: 'empty_topic_name', is: false, patch }] } : {};

/** Deletes the user's drafts when synchronization is switched off; there is no event for it. */
export async function dropDrafts(work: Work, userId: number): Promise<void> {
  await lockFor(work, 'drafts', userId);
  await work.run(sql.unsafe`DELETE FROM messaging.draft WHERE realm_id = ${work.realmId} AND user_id = ${userId}`);
}
