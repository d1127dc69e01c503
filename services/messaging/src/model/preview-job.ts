import { type InsertNumbered, type Numbered, sql, type Work } from '@natter/database';
import { ownerOf } from './owner-of.ts';

/** The hash that a job has of the text of its message. */
export const hashOf = (content: ReturnType<typeof sql.fragment>) =>
  sql.fragment`sha256(convert_to(${content}, 'UTF8'))`;

/** SQL expression: the user for whom the pages of a message `m` are fetched. */
const causedBy = ownerOf({ realmId: sql.fragment`m.realm_id`, botId: sql.fragment`m.sender_id` });

const intoJobs: InsertNumbered = (rows) => sql.unsafe`
  INSERT INTO messaging.link_preview_job (realm_id, message_id, content_hash, urls, caused_by)
  SELECT m.realm_id, m.number, ${hashOf(sql.fragment`m.content`)}, m.urls, ${causedBy}
  FROM ${rows(sql.fragment`sender_id int, content text, urls text[]`)} m`;

/** The job that previews the pages of a new message, if there are any. `pages` is empty if the realm has no previews. */
export const jobsOfSend = (sender_id: number, content: string, pages: readonly string[]) => ({
  rows: (from_end: number): Numbered[] =>
    pages.length === 0 ? [] : [{ into: intoJobs, row: { from_end, sender_id, content, urls: pages } }],
});

/** The job of a message that is edited. A job of the previous text ends by itself, because the text is another one. */
export async function replaceJob(
  work: Work,
  messageId: number,
  { content, pages }: { content: string; pages: readonly string[] },
): Promise<void> {
  if (pages.length === 0) return;
  await work.run(sql.unsafe`
    INSERT INTO messaging.link_preview_job (realm_id, message_id, content_hash, urls, caused_by)
    SELECT m.realm_id, m.id, ${hashOf(sql.fragment`${content}`)}, ${sql.array([...pages], 'text')}, ${causedBy}
    FROM messaging.message m WHERE m.realm_id = ${work.realmId} AND m.id = ${messageId}
    ON CONFLICT (realm_id, message_id) DO UPDATE SET content_hash = excluded.content_hash, urls = excluded.urls,
      created_at = excluded.created_at, attempts = 0, taken_until = excluded.taken_until, caused_by = excluded.caused_by`);
}
