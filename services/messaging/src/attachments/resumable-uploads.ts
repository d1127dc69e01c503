import { randomBytes, randomUUID } from 'node:crypto';
import { ChatError, type ResumableUpload, totals, uploadOperations } from '@natter/contracts';
import {
  type Database,
  type Executor,
  inBatches,
  requireRoom,
  sql,
  type Work,
  withoutDeadline,
} from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner, repeat } from '@natter/service-kit';
import { z } from 'zod';
import { addAttachment, mib, requireRoomForFile, tooLargeText, type UploadLimits } from './add-attachment.ts';
import type { FileStore } from './file-store.ts';
import { describedBy } from './tus-metadata.ts';
import { requirePersonsSpace, requireQuota, tooLarge, unfinishedOf, uploadsOf } from './unfinished-space.ts';

/** An upload expires after this time, complete or not. */
const lifetime = sql.fragment`interval '24 hours'`;
const sweepEveryMs = 600_000;
const sweptAtOnce = 500;

const uploadRow = z.object({
  id: z.string(),
  /** The user whose limits the upload counts against: the owner of a bot, otherwise the user. */
  person_id: z.number(),
  file_key: z.string(),
  name: z.string(),
  content_type: z.string(),
  metadata: z.string(),
  size: z.number(),
  received: z.number(),
  url: z.string().nullable(),
  expires: z.number(),
});
type UploadRow = z.infer<typeof uploadRow>;
const countRow = z.object({ count: z.number() });
const columns = sql.fragment`id, coalesce(person_id, owner_id) AS person_id, file_key, name, content_type, metadata, size, received, url, floor(extract(epoch FROM expires_at))::float8 AS expires`;

/** Uploads whose data arrives in several requests, at any gateway. */
export function resumableUploadHandlers(
  { database }: Owner,
  store: FileStore,
  sweep: UploadSweep,
  limits: UploadLimits,
): Handlers {
  const { maxMib, quotaMib } = limits;

  /** Turns the upload into a file when its last byte has arrived. */
  async function settled(work: Work, ownerId: number, upload: UploadRow): Promise<ResumableUpload> {
    if (upload.received < upload.size || upload.url !== null) return stateOf(upload);
    const { file_key: key, name, content_type, size } = upload;
    const { url } = await addAttachment(work, { store, quotaMib }, ownerId, { key, name, content_type, size });
    await work.run(sql.unsafe`
      UPDATE messaging.resumable_upload SET url = ${url} WHERE realm_id = ${work.realmId} AND id = ${upload.id}`);
    return stateOf({ ...upload, url });
  }

  return [
    handleWrite(uploadOperations.createResumableUpload, async (context, { upload_length: size, upload_metadata }) => {
      const { userId, botOwnerId: personId = userId } = context.actor;
      if (size === undefined)
        throw new ChatError('LENGTH_REQUIRED', 'Upload-Length is missing. The size of an upload must be known.');
      if (size > maxMib * mib) throw tooLarge(tooLargeText(maxMib));
      const { name, contentType } = describedBy(upload_metadata);
      // Expired uploads take no room. Deleting their data may take long, so the request does not wait for it.
      sweep.begin();
      return context.write(async (work) => {
        await requireQuota(work, size, quotaMib);
        const key = randomUUID();
        await store.begin(work, key);
        const upload = await work.one(sql.type(uploadRow)`
          INSERT INTO messaging.resumable_upload (realm_id, id, owner_id, person_id, file_key, name, content_type, metadata, size, expires_at)
          VALUES (${work.realmId}, ${randomBytes(18).toString('base64url')}, ${userId}, ${personId}, ${key}, ${name}, ${contentType}, ${upload_metadata}, ${size}, now() + ${lifetime})
          RETURNING ${columns}`);
        await requireRoom(work, totals.resumableUploads, uploadsOf(work.realmId, personId));
        await requireRoom(work, totals.unfinishedUploads, unfinishedOf(work.realmId, personId));
        // An empty one becomes a file at once, which checks the room after it locks the space of the realm.
        if (size > 0) await requireRoomForFile(work, userId);
        return settled(work, userId, upload);
      });
    }),

    handle(uploadOperations.getResumableUpload, async ({ actor }, { upload_id }) =>
      stateOf(await findUpload(database, actor, upload_id)),
    ),

    handleWrite(
      uploadOperations.appendResumableUpload,
      async (context, { upload_id, upload_offset, bytes: encoded }) => {
        const { actor } = context;
        const bytes = Buffer.from(encoded, 'base64');
        return context.write(async (work) => {
          const upload = await findUpload(work, actor, upload_id, sql.fragment`FOR UPDATE`);
          // Only one of several concurrent requests continues the upload.
          if (upload.received !== upload_offset)
            throw new ChatError(
              'UPLOAD_OFFSET_MISMATCH',
              `The upload continues at offset ${upload.received}, not at ${upload_offset}`,
              { upload_offset: upload.received },
            );
          const received = upload_offset + bytes.length;
          if (received > upload.size) throw tooLarge('The data is longer than Upload-Length');
          if (bytes.length === 0) return stateOf(upload);
          await store.append(work, upload.file_key, upload_offset, bytes);
          await work.run(sql.unsafe`
            UPDATE messaging.resumable_upload SET received = ${received} WHERE realm_id = ${work.realmId} AND id = ${upload_id}`);
          if (received < upload.size) {
            await requireQuota(work, 0, quotaMib);
            await requirePersonsSpace(work, upload.person_id, limits);
          }
          return settled(work, actor.userId, { ...upload, received });
        });
      },
    ),

    handleWrite(uploadOperations.deleteResumableUpload, async (context, { upload_id }) => {
      const { actor } = context;
      return context.write(async (work) => {
        const upload = await findUpload(work, actor, upload_id, sql.fragment`FOR UPDATE`);
        await work.run(sql.unsafe`
          DELETE FROM messaging.resumable_upload WHERE realm_id = ${work.realmId} AND id = ${upload_id}`);
        if (upload.received < upload.size) await store.remove(work, upload.file_key);
        return {};
      });
    }),
  ];
}

export interface UploadSweep {
  /** Deletes expired uploads in the background, unless that is in progress. */
  begin(): void;
  stop(): Promise<void>;
}

/** Deletes expired uploads from time to time. */
export function sweepResumableUploads(
  database: Database,
  store: FileStore,
  onError: (error: unknown) => void,
): UploadSweep {
  let running: Promise<void> | undefined;
  let isStopped = false;
  const begin = (): void => {
    running ??= withoutDeadline(() => removeExpired(database, store, () => isStopped))
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  };
  const stopRepeating = repeat({ everyMs: sweepEveryMs, onError }, async () => begin());
  return {
    begin,
    stop: async () => {
      isStopped = true;
      await stopRepeating();
      await running;
    },
  };
}

/**
 * Deletes uploads that have expired, and the data of incomplete ones. The data is deleted by later statements: this one
 * would not see the chunk of a request that was committed while it waited for the row of the upload.
 */
async function removeExpired(database: Database, store: FileStore, isStopped: () => boolean): Promise<void> {
  await inBatches(sweptAtOnce, isStopped, async () => {
    const { count } = await database.one(sql.type(countRow)`
      WITH expired AS (
          DELETE FROM messaging.resumable_upload WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM messaging.resumable_upload WHERE expires_at < now()
            ORDER BY expires_at LIMIT ${sweptAtOnce} FOR UPDATE SKIP LOCKED))
          RETURNING realm_id, file_key, received < size AS is_unfinished),
        released AS (
          UPDATE messaging.file f SET is_kept = false, stored_at = '-infinity' FROM expired e
          WHERE e.is_unfinished AND f.realm_id = e.realm_id AND f.key = e.file_key)
      SELECT count(*)::int AS count FROM expired`);
    return count;
  });
  await store.sweep(isStopped);
}

/** Another user's upload, and an expired one, are answered like one that does not exist. */
async function findUpload(
  executor: Executor,
  { realmId, userId }: { realmId: number; userId: number },
  id: string,
  lock = sql.fragment``,
): Promise<UploadRow> {
  const row = await executor.maybeOne(sql.type(uploadRow)`
    SELECT ${columns} FROM messaging.resumable_upload
    WHERE realm_id = ${realmId} AND id = ${id} AND owner_id = ${userId} AND expires_at > now() ${lock}`);
  if (!row) throw new ChatError('NOT_FOUND', 'The upload does not exist, or it has expired.');
  return row;
}

const stateOf = ({ id, received, size, metadata, expires, url, name }: UploadRow): ResumableUpload => ({
  upload_id: id,
  upload_offset: received,
  upload_length: size,
  upload_metadata: metadata,
  upload_expires: expires,
  ...(url === null ? {} : { url, filename: name || 'uploaded-file' }),
});
