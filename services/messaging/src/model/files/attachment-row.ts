import { type Attachment, ChatError, eventForUsers, inAttachments, type LogEvent, maxId } from '@natter/contracts';
import { type Executor, type Fragment, sql, type Work } from '@natter/database';
import { z } from 'zod';

const attachmentRow = z.object({
  id: z.number(),
  owner_id: z.number(),
  name: z.string(),
  path_id: z.string(),
  size: z.number(),
  created: z.number(),
  messages: z.array(z.object({ id: z.number(), date_sent: z.number() })),
});
type AttachmentRow = z.infer<typeof attachmentRow>;

/**
 * Each new reference is announced with earlier ones. Listing all would make the thousandth message a thousand times as
 * expensive.
 */
const shownMessages = 50;

/** Attachments `a`, newest first, with the newest messages that refer to them. */
const attachmentsWhere = (
  executor: Executor,
  condition: Fragment,
  { files, messages } = { files: maxId, messages: shownMessages },
): Promise<AttachmentRow[]> =>
  executor.any(sql.type(attachmentRow)`
    SELECT a.id, a.owner_id, a.name, a.path_id, a.size, floor(extract(epoch FROM a.created_at) * 1000)::float8 AS created,
      coalesce((SELECT json_agg(json_build_object('id', r.id, 'date_sent', floor(extract(epoch FROM r.sent_at) * 1000)::bigint) ORDER BY r.id)
        FROM (SELECT m.id, coalesce(m.stated_at, m.sent_at) AS sent_at FROM messaging.attachment_message am JOIN messaging.message m ON m.realm_id = am.realm_id AND m.id = am.message_id
          WHERE am.realm_id = a.realm_id AND am.attachment_id = a.id ORDER BY am.message_id DESC LIMIT ${messages}) r), '[]') AS messages
    FROM messaging.attachment a WHERE ${condition} ORDER BY a.id DESC LIMIT ${files}`);

const sliceFiles = 250;

/** The files of a user, newest first, as many as one answer may contain. */
export async function attachmentsOf(executor: Executor, realmId: number, ownerId: number): Promise<Attachment[]> {
  const found: Attachment[] = [];
  let [before, messages, bytes] = [maxId, 0, 0];
  for (;;) {
    const rows = await attachmentsWhere(
      executor,
      sql.fragment`a.realm_id = ${realmId} AND a.owner_id = ${ownerId} AND a.id < ${before}`,
      { files: sliceFiles, messages: messages < inAttachments.messages ? shownMessages : 1 },
    );
    for (const attachment of rows.map(toAttachment)) {
      bytes += Buffer.byteLength(JSON.stringify(attachment));
      if (bytes > inAttachments.bytes) return found;
      found.push(attachment);
      messages += attachment.messages.length;
    }
    const last = rows.at(-1);
    if (!last || rows.length < sliceFiles) return found;
    before = last.id;
  }
}

export const toAttachment = ({ id, name, path_id, size, created, messages }: AttachmentRow): Attachment => ({
  id,
  name,
  path_id,
  size,
  create_time: created,
  messages,
});

const bytesRow = z.object({ bytes: z.number() });
const selectSpace = (realmId: number) =>
  sql.fragment`SELECT bytes FROM messaging.upload_space WHERE realm_id = ${realmId}`;

/** Total size of all files of the realm, in bytes. */
export async function spaceUsed(executor: Executor, realmId: number): Promise<number> {
  const row = await executor.maybeOne(sql.type(bytesRow)`${selectSpace(realmId)}`);
  return row?.bytes ?? 0;
}

/**
 * The same, with the data that arrived of unfinished resumable uploads. Their declared sizes take nothing: they cost nothing to
 * declare.
 */
export async function spaceTaken(executor: Executor, realmId: number): Promise<number> {
  const { bytes } = await executor.one(sql.type(bytesRow)`
    SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM (
      SELECT bytes FROM messaging.upload_space WHERE realm_id = ${realmId}
      UNION ALL SELECT received FROM messaging.resumable_upload WHERE realm_id = ${realmId} AND received < size AND expires_at > now()) taken`);
  return bytes;
}

/** Refuses what would make the files of a realm take so many bytes. */
export function requireSpace(bytes: number, quotaMib: number): void {
  if (bytes > quotaMib * 1024 * 1024)
    throw new ChatError('REALM_UPLOAD_QUOTA', "Upload would exceed your organization's upload quota.");
}

export const attachmentEvent = (
  op: 'add' | 'update',
  ownerId: number,
  attachment: Attachment,
  upload_space_used: number,
): LogEvent => ({
  type: 'attachment',
  op,
  body: { attachment, upload_space_used },
  audience: { users: { ids: [ownerId] } },
});

export const attachmentRemoved = (ownerId: number, id: number, upload_space_used: number): LogEvent =>
  eventForUsers('attachment/remove', { attachment: { id }, upload_space_used }, [ownerId]);

const idRow = z.object({ id: z.number() });

/**
 * Locks the attachments among these ids, in ascending order, and returns those that exist. A unit locks attachments before
 * it changes references to them, so that the lists that are announced are in the order of the changes. The order of all
 * locks is: messages, attachments, references, the space of the realm.
 */
export async function lockAttachments(work: Work, ids: Fragment | ReturnType<typeof sql.array>): Promise<number[]> {
  const rows = await work.any(sql.type(idRow)`
    SELECT a.id FROM messaging.attachment a WHERE a.realm_id = ${work.realmId} AND a.id = ANY(${ids}) ORDER BY a.id FOR NO KEY UPDATE`);
  return rows.map((row) => row.id);
}

/**
 * Emits to the owners of these attachments which messages refer to them now, and returns the attachments. The unit has locked
 * them.
 */
export async function announceReferences(work: Work, attachmentIds: readonly number[]): Promise<AttachmentRow[]> {
  if (attachmentIds.length === 0) return [];
  const rows = await attachmentsWhere(
    work,
    sql.fragment`a.realm_id = ${work.realmId} AND a.id = ANY(${sql.array([...attachmentIds], 'int4')})`,
  );
  // Uploads wait until this unit ends, so that a later number has a later space.
  const space = await work.maybeOne(sql.type(bytesRow)`${selectSpace(work.realmId)} FOR SHARE`);
  for (const row of rows) work.emit(attachmentEvent('update', row.owner_id, toAttachment(row), space?.bytes ?? 0));
  return rows;
}
