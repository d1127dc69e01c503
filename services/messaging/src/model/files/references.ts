import { type Actor, type LogEvent, perRequest, type RequestMeta } from '@natter/contracts';
import { type InsertNumbered, type Numbered, sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { announceReferences, lockAttachments, toAttachment } from './attachment-row.ts';
import { type Sharing, shareableBy } from './shareable-files.ts';

const referenceRow = z.object({ id: z.number(), owner_id: z.number() });
const idRow = z.object({ id: z.number() });

/** Whether a text may link files. */
export const mayLinkFiles = (content: string): boolean => content.includes('/user_uploads/');

/** The random path components of the files that a text links. */
function tokensIn(realmId: number, content: string): string[] {
  if (!mayLinkFiles(content)) return [];
  const found = [...content.matchAll(/\/user_uploads\/(\d{1,10})\/[\w-]{1,4}\/([\w-]{16,40})\//g)];
  return [...new Set(found.flatMap(([, realm, token]) => (Number(realm) === realmId && token ? [token] : [])))].slice(
    0,
    perRequest.linkedFiles,
  );
}

/** The files that a text shares with its readers, and the expected versions of that decision. */
export interface SharedFiles {
  fileIds: readonly number[];
  expected: Record<string, number>;
}

export const noFiles: SharedFiles = { fileIds: [], expected: {} };

/**
 * The files that a text of this author shares with its readers: only those that the author may see, because a message
 * gives its readers access to its files.
 */
export async function filesReferredBy(
  sharing: Sharing,
  author: { actor: Actor; meta: RequestMeta },
  content: string,
): Promise<SharedFiles> {
  const { realmId } = author.meta;
  const tokens = tokensIn(realmId, content);
  if (tokens.length === 0) return noFiles;
  const files = await sharing.database.any(sql.type(referenceRow)`
    SELECT id, owner_id FROM messaging.attachment WHERE realm_id = ${realmId} AND token = ANY(${sql.array(tokens, 'text')}) ORDER BY id`);
  const { fileIds, expected } = await shareableBy(sharing, author, files);
  return { fileIds: files.map(({ id }) => id).filter((id) => fileIds.has(id)), expected };
}

const intoReferences: InsertNumbered = (rows) => sql.unsafe`
  INSERT INTO messaging.attachment_message (realm_id, attachment_id, message_id)
  SELECT m.realm_id, a, m.number FROM ${rows(sql.fragment`attachment_ids int[]`)} m, unnest(m.attachment_ids) a`;

/** Rows and events that a send with files adds to its unit; the owners are notified when the message has its id. */
export function referencesOfSend(attachmentIds: readonly number[]): {
  events: LogEvent[];
  rows: (fromEnd: number) => Numbered[];
} {
  if (attachmentIds.length === 0) return { events: [], rows: () => [] };
  const note = { attachment_ids: attachmentIds };
  return {
    events: [{ type: 'attachments_referenced', body: {}, audience: { users: { ids: [] } }, note }],
    rows: (from_end) => [{ into: intoReferences, row: { from_end, attachment_ids: attachmentIds } }],
  };
}

/**
 * Notifies owners of files about messages that refer to them, after sends. The files of all events of a transaction are
 * locked at once, in their order.
 */
export function referencesConsumer(owner: Owner): void {
  const referred = new WeakMap<Work, Set<number>>();
  owner.consume({
    name: 'attachment-references',
    on: {
      attachments_referenced: async (work, { note }) => {
        const ids = referred.get(work) ?? new Set();
        for (const id of note.attachment_ids) ids.add(id);
        referred.set(work, ids);
      },
    },
    finish: async (work) => {
      const ids = referred.get(work);
      if (ids) await announceReferences(work, await lockAttachments(work, sql.array([...ids], 'int4')));
    },
  });
}

/**
 * Locks the files that messages refer to, and these others; returns all. The caller holds locks on the messages. A unit
 * that changes messages in parts locks the files of all parts first.
 */
export const lockFilesOf = (
  work: Work,
  messageIds: readonly number[],
  others: readonly number[] = [],
): Promise<number[]> =>
  lockAttachments(
    work,
    sql.fragment`ARRAY(SELECT attachment_id FROM messaging.attachment_message
      WHERE realm_id = ${work.realmId} AND message_id = ANY(${sql.array([...messageIds], 'int8')})) || ${sql.array([...others], 'int4')}`,
  );

/** Updates the references of an edited message. Returns the editor's files to which no message refers any more. */
export async function referencesOfEdit(
  work: Work,
  actor: Actor,
  messageId: number,
  { content, referred }: { content: string; referred: readonly number[] },
): Promise<ReturnType<typeof toAttachment>[]> {
  const tokens = tokensIn(work.realmId, content);
  // Without files that were deleted meanwhile.
  const existing = new Set(await lockFilesOf(work, [messageId], referred));
  const stillReferred = referred.filter((id) => existing.has(id));
  const ofMessage = sql.fragment`realm_id = ${work.realmId} AND message_id = ${messageId}`;
  const removed = await work.any(sql.type(idRow)`
    DELETE FROM messaging.attachment_message WHERE ${ofMessage}
      AND attachment_id NOT IN (SELECT id FROM messaging.attachment WHERE realm_id = ${work.realmId} AND token = ANY(${sql.array(tokens, 'text')}))
    RETURNING attachment_id AS id`);
  const added = await work.any(sql.type(idRow)`
    INSERT INTO messaging.attachment_message (realm_id, attachment_id, message_id)
    SELECT ${work.realmId}, a, ${messageId} FROM unnest(${sql.array(stillReferred, 'int4')}) a ON CONFLICT DO NOTHING RETURNING attachment_id AS id`);
  const changed = await announceReferences(
    work,
    [...removed, ...added].map(({ id }) => id),
  );
  const removedIds = new Set(removed.map(({ id }) => id));
  return changed
    .filter((row) => removedIds.has(row.id) && row.owner_id === actor.userId && row.messages.length === 0)
    .map(toAttachment);
}

/** Removes the references of deleted messages. */
export async function forgetReferences(work: Work, messageIds: readonly number[]): Promise<void> {
  await lockFilesOf(work, messageIds);
  const removed = await work.any(sql.type(idRow)`
    DELETE FROM messaging.attachment_message WHERE realm_id = ${work.realmId} AND message_id = ANY(${sql.array([...messageIds], 'int8')})
    RETURNING attachment_id AS id`);
  await announceReferences(work, [...new Set(removed.map(({ id }) => id))]);
}
