import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest, missing, type Page, uploadOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { attachmentRemoved, attachmentsOf, spaceUsed } from '../model/files/attachment-row.ts';
import { type FileRow, findFile, mayGet } from '../model/files/file-access.ts';
import type { Reading } from '../model/reading/reader.ts';
import { addAttachment, inPath, mib, tooLargeText, type UploadLimits } from './add-attachment.ts';
import type { FileStore } from './file-store.ts';
import { servedAs } from './served-as.ts';

const urlSeconds = 60;
const removedRow = z.object({ file_key: z.string(), size: z.number() });
const bytesRow = z.object({ bytes: z.number() });

/** Files that users upload and link in messages. */
export function uploadHandlers(owner: Owner, store: FileStore, reading: Reading, limits: UploadLimits): Handlers {
  const { database } = owner;
  const { maxMib, quotaMib } = limits;
  return [
    handleWrite(uploadOperations.uploadFile, async (context, { file }) => {
      const { actor } = context;
      if (file.size > maxMib * mib) throw badRequest(tooLargeText(maxMib));
      return context.write(async (work) => {
        const { url, filename } = await addAttachment(work, { store, quotaMib }, actor.userId, file);
        return { url, uri: url, filename };
      });
    }),

    handle(uploadOperations.getFileUrl, (context, { realm_id_str, filename }) =>
      temporaryUrl(context, `${realm_id_str}/${filename}`),
    ),
    handle(uploadOperations.getFileUrlByPath, (context, { realm_id_str, folder, token, filename }) =>
      temporaryUrl(context, `${realm_id_str}/${folder}/${token}/${filename}`),
    ),

    handle(uploadOperations.getFile, async (context, { realm_id, folder, token, name }) => {
      const { actor, meta } = context;
      // A user whose access was just revoked must not get the file.
      await owner.catchUp(meta.realmId, actor?.basis);
      const file = await findFile(
        database,
        meta.realmId,
        sql.fragment`a.path_id = ${`${realm_id}/${folder}/${token}/${name}`}`,
      );
      const sources = { messages: reading.messages, policy: await reading.policies.get(meta, true) };
      return file && (await mayGet(database, sources, context, file)) ? pageOf(file, 600) : noFile;
    }),

    handle(uploadOperations.getTemporaryFile, async ({ meta }, { access }) => {
      const [, id, until, signature] = /^(\d{1,9})-(\d{1,12})-([0-9a-f]{64})$/.exec(access) ?? [];
      if (id === undefined || until === undefined || signature === undefined) return noFile;
      const file = await findFile(database, meta.realmId, sql.fragment`a.id = ${Number(id)}`);
      const isSigned =
        file !== undefined && timingSafeEqual(Buffer.from(signed(file, Number(until))), Buffer.from(signature));
      return isSigned && Number(until) * 1000 > owner.redis.now() ? pageOf(file, 0) : noFile;
    }),

    handle(uploadOperations.getAttachments, async ({ actor }) => {
      const attachments = await attachmentsOf(database, actor.realmId, actor.userId);
      return { attachments, upload_space_used: await spaceUsed(database, actor.realmId) };
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

  async function temporaryUrl(context: UserContext, pathId: string): Promise<{ url: string }> {
    const { actor, meta } = context;
    const file = await findFile(database, actor.realmId, sql.fragment`a.path_id = ${pathId}`);
    const sources = { messages: reading.messages, policy: await reading.policies.get(meta, false) };
    if (!file || !(await mayGet(database, sources, context, file))) throw missing('File not found.');
    const until = Math.floor(owner.redis.now() / 1000) + urlSeconds;
    return {
      url: `/user_uploads/temporary/${file.id}-${until}-${signed(file, until)}/${encodeURIComponent(inPath(file.name))}`,
    };
  }
}

/** Every file has its own secret in the database, so any process can verify a signature of another one. */
const signed = ({ id, secret }: FileRow, until: number): string =>
  createHmac('sha256', secret).update(`${id} ${until}`).digest('hex');

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
