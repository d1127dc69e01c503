import { randomBytes } from 'node:crypto';
import { type ChatError, totals } from '@natter/contracts';
import { requireRoom, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { attachmentEvent, requireSpace, spaceTaken } from '../model/files/attachment-row.ts';
import type { FileStore } from './file-store.ts';
import { typeOf } from './served-as.ts';

export interface UploadLimits {
  maxMib: number;
  quotaMib: number;
}

interface Uploaded {
  key: string;
  name: string;
  content_type: string;
  size: number;
}

export const mib = 1024 * 1024;
const insertedRow = z.object({ id: z.number(), created: z.number() });
const bytesRow = z.object({ bytes: z.number() });

/** Turns stored chunks into a file of the user, and notifies the user's clients. */
export async function addAttachment(
  work: Work,
  { store, quotaMib }: { store: FileStore; quotaMib: number },
  ownerId: number,
  file: Uploaded,
): Promise<{ url: string; filename: string }> {
  const { key, size } = file;
  const name = file.name || 'uploaded-file';
  const { bytes } = await work.one(sql.type(bytesRow)`
    INSERT INTO messaging.upload_space AS s (realm_id, bytes) VALUES (${work.realmId}, ${size})
    ON CONFLICT (realm_id) DO UPDATE SET bytes = s.bytes + excluded.bytes RETURNING bytes`);
  requireSpace(await spaceTaken(work, work.realmId), quotaMib);
  await store.keep(work, key, size);
  const token = randomBytes(18).toString('base64url');
  const path_id = `${work.realmId}/${randomBytes(1).toString('hex')}/${token}/${inPath(name)}`;
  const { id, created } = await work.one(sql.type(insertedRow)`
    INSERT INTO messaging.attachment (realm_id, owner_id, name, token, path_id, file_key, content_type, size)
    VALUES (${work.realmId}, ${ownerId}, ${name}, ${token}, ${path_id}, ${key}, ${typeOf(file.content_type, name)}, ${size})
    RETURNING id, floor(extract(epoch FROM created_at) * 1000)::float8 AS created`);
  await requireRoomForFile(work, ownerId);
  work.emit(attachmentEvent('add', ownerId, { id, name, path_id, size, create_time: created, messages: [] }, bytes));
  return { url: `/user_uploads/${path_id}`, filename: name };
}

export const requireRoomForFile = (work: Work, ownerId: number): Promise<void> =>
  requireRoom(
    work,
    totals.uploads,
    sql.fragment`messaging.attachment WHERE realm_id = ${work.realmId} AND owner_id = ${ownerId}`,
  );

/** The text of the refusal of a file that is larger than permitted. */
export const tooLargeText = (maxMib: number): ChatError['message'] =>
  `Uploaded file is larger than the allowed limit of ${maxMib} MiB`;

/** The form of a file's name in its path: letters, digits, `_`, `.` and `-`. */
export function inPath(name: string): string {
  const plain = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}_\s.-]/gu, '')
    .trim()
    .replace(/[-\s]+/g, '-');
  return /^\.*$/.test(plain) ? 'uploaded-file' : plain;
}
