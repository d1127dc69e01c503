import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { badRequest, type ChatError, missing, type Page, totals, uploadOperations } from '@natter/contracts';
import { requireRoom, sql } from '@natter/database';
import { type FileStore, type Handlers, handle, handleWrite, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import {
  attachmentEvent,
  attachmentRemoved,
  attachmentsWhere,
  requireSpace,
  spaceUsed,
  toAttachment,
} from '../model/files/attachment-row.ts';
import { type FileRow, findFile, mayGet } from '../model/files/file-access.ts';
import type { Reading } from '../model/reading/reader.ts';
import { servedAs, typeOf } from './served-as.ts';

interface Limits {
  maxMib: number;
  quotaMib: number;
}

const mib = 1024 * 1024;
const urlSeconds = 60;
const insertedRow = z.object({ id: z.number(), created: z.number() });
const removedRow = z.object({ file_key: z.string(), size: z.number() });
const bytesRow = z.object({ bytes: z.number() });

/** Files that users upload and link in messages. */
export function uploadHandlers(owner: Owner, store: FileStore, reading: Reading, limits: Limits): Handlers {
  const { database } = owner;
  return [
    handleWrite(uploadOperations.uploadFile, async (context, { file }) => {
      const { actor } = context;
      if (file.size > limits.maxMib * mib) throw tooLarge(limits.maxMib);
      const name = file.name || 'uploaded-file';
      const { key } = file;
      return context.write(async (work) => {
        const { bytes } = await work.one(sql.type(bytesRow)`
          INSERT INTO messaging.upload_space AS s (realm_id, bytes) VALUES (${work.realmId}, ${file.size})
          ON CONFLICT (realm_id) DO UPDATE SET bytes = s.bytes + excluded.bytes RETURNING bytes`);
        requireSpace(bytes, limits.quotaMib);
        await store.keep(work, key, file.size);
        const token = randomBytes(18).toString('base64url');
        const path_id = `${work.realmId}/${randomBytes(1).toString('hex')}/${token}/${inPath(name)}`;
        const { id, created } = await work.one(sql.type(insertedRow)`
          INSERT INTO messaging.attachment (realm_id, owner_id, name, token, path_id, file_key, content_type, size)
          VALUES (${work.realmId}, ${actor.userId}, ${name}, ${token}, ${path_id}, ${key}, ${typeOf(file.content_type, name)}, ${file.size})
          RETURNING id, floor(extract(epoch FROM created_at) * 1000)::float8 AS created`);
        await requireRoom(
          work,
          totals.uploads,
          sql.fragment`messaging.attachment WHERE realm_id = ${work.realmId} AND owner_id = ${actor.userId}`,
        );
        const attachment = { id, name, path_id, size: file.size, create_time: created, messages: [] };
        work.emit(attachmentEvent('add', actor.userId, attachment, bytes));
        const url = `/user_uploads/${path_id}`;
        return { url, uri: url, filename: name };
      });
    }),

    handle(uploadOperations.getFileUrl, (context, { realm_id_str, filename }) =>
      temporaryUrl(context, `${realm_id_str}/${filename}`),
    ),
    handle(uploadOperations.getFileUrlByPath, (context, { realm_id_str, folder, token, filename }) =>
      temporaryUrl(context, `${realm_id_str}/${folder}/${token}/${filename}`),
    ),

    handle(uploadOperations.getFile, async ({ actor, meta }, { realm_id, folder, token, name }) => {
      // A user whose access was just revoked must not get the file.
      await owner.catchUp(meta.realmId, actor?.basis);
      const file = await findFile(
        database,
        meta.realmId,
        sql.fragment`a.path_id = ${`${realm_id}/${folder}/${token}/${name}`}`,
      );
      const sources = { messages: reading.messages, policy: await reading.policies.get(meta, true) };
      return file && (await mayGet(database, sources, actor, meta, file)) ? pageOf(file, 600) : noFile;
    }),

    handle(uploadOperations.getTemporaryFile, async ({ meta }, { access }) => {
      const [, id, until, signature] = /^(\d{1,9})-(\d{1,12})-([0-9a-f]{64})$/.exec(access) ?? [];
      if (id === undefined || until === undefined || signature === undefined) return noFile;
      const file = await findFile(database, meta.realmId, sql.fragment`a.id = ${Number(id)}`);
      const isSigned =
        file !== undefined && timingSafeEqual(Buffer.from(signed(file, Number(until))), Buffer.from(signature));
      return isSigned && Number(until) * 1000 > Date.now() ? pageOf(file, 0) : noFile;
    }),

    handle(uploadOperations.getAttachments, async ({ actor }) => {
      const rows = await attachmentsWhere(
        database,
        sql.fragment`a.realm_id = ${actor.realmId} AND a.owner_id = ${actor.userId}`,
      );
      return { attachments: rows.map(toAttachment), upload_space_used: await spaceUsed(database, actor.realmId) };
    }),

    handleWrite(uploadOperations.deleteAttachment, async (context, params) => {
      const { actor } = context;
      return context.write(async (work) => {
        const removed = await work.maybeOne(sql.type(removedRow)`
          DELETE FROM messaging.attachment WHERE realm_id = ${work.realmId} AND id = ${params.attachment_id} AND owner_id = ${actor.userId}
          RETURNING file_key, size`);
        if (!removed) throw badRequest('Invalid attachment');
        await work.run(sql.unsafe`
          DELETE FROM messaging.attachment_message WHERE realm_id = ${work.realmId} AND attachment_id = ${params.attachment_id}`);
        await store.remove(work, removed.file_key);
        const { bytes } = await work.one(sql.type(bytesRow)`
          UPDATE messaging.upload_space SET bytes = bytes - ${removed.size} WHERE realm_id = ${work.realmId} RETURNING bytes`);
        work.emit(attachmentRemoved(actor.userId, params.attachment_id, bytes));
        return {};
      });
    }),
  ];

  async function temporaryUrl({ actor, meta }: UserContext, pathId: string): Promise<{ url: string }> {
    const file = await findFile(database, actor.realmId, sql.fragment`a.path_id = ${pathId}`);
    const sources = { messages: reading.messages, policy: await reading.policies.get(meta, false) };
    if (!file || !(await mayGet(database, sources, actor, meta, file))) throw missing('File not found.');
    const until = Math.floor(Date.now() / 1000) + urlSeconds;
    return {
      url: `/user_uploads/temporary/${file.id}-${until}-${signed(file, until)}/${encodeURIComponent(inPath(file.name))}`,
    };
  }
}

const tooLarge = (maxMib: number): ChatError =>
  badRequest(`Uploaded file is larger than the allowed limit of ${maxMib} MiB`);

/** Every file has its own secret in the database, so any process can verify a signature of another one. */
const signed = ({ id, secret }: FileRow, until: number): string =>
  createHmac('sha256', secret).update(`${id} ${until}`).digest('hex');

/** The form of a file's name in its path: letters, digits, `_`, `.` and `-`. */
function inPath(name: string): string {
  const plain = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}_\s.-]/gu, '')
    .trim()
    .replace(/[-\s]+/g, '-');
  return /^\.*$/.test(plain) ? 'uploaded-file' : plain;
}

const pageOf = (file: FileRow, cache_seconds: number): Page => ({
  status: 200,
  ...servedAs(file.content_type, file.name),
  body: '',
  is_base64: false,
  file: { key: file.file_key, size: file.size },
  cache_seconds,
});

const noFile: Page = {
  status: 404,
  content_type: 'text/plain; charset=utf-8',
  body: 'File not found.\n',
  is_base64: false,
  cache_seconds: 0,
};
