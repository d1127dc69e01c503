import { createHash, randomUUID } from 'node:crypto';
import {
  badRequest,
  fileChunkBytes,
  fileOperations,
  isRefusal,
  type Operation,
  type Page,
  type RequestMeta,
  shortName,
  streamsBody,
  type UploadedFile,
} from '@natter/contracts';
import { type Bus, withoutCharge } from '@natter/service-kit';
import type { FastifyReply } from 'fastify';
import { streamOf } from './answer-memory.ts';
import { declaredForm } from './declared-form.ts';
import type { FilePart } from './request-fields.ts';

/** Chunks of one file transferred in parallel. */
const abreast = 4;
/** Chunks of a file in memory while a client reads it: one is fetched, one is buffered, and one is sent. */
const heldChunks = 3;

/** Maximum length of a file's name, and of its content type. */
const maxName = 255;

/** The largest file that a request of the operation may contain, in its form or as its body; undefined if it takes none. */
export function maxFileBytes(operation: Operation, maxUploadBytes: number): number | undefined {
  const { file } = operation.params;
  // The value of the parameter is base64, which has four characters for three bytes.
  if (file?.encoding === 'text') return Math.min((file.bound.characters / 4) * 3, maxUploadBytes);
  return declaredForm(operation).fileKey !== undefined || streamsBody(operation) ? maxUploadBytes : undefined;
}

type ChunkOperations = (typeof fileOperations)[keyof typeof fileOperations];
const chunkOperations: Partial<Record<Operation['service'], ChunkOperations>> = fileOperations;
const chunksOf = (operation: Operation) => {
  const found = chunkOperations[operation.service];
  if (!found) throw new Error(`${operation.service} stores no files`);
  return found;
};

/** The request that sends or gets a file; the owner of its operation stores the file. */
interface FileRequest {
  operation: Operation;
  meta: RequestMeta;
}

/** Passes the form's file to the owner of the operation chunk by chunk, so that it does not delay other messages. */
export async function handOver(
  bus: Bus,
  { operation, meta }: FileRequest,
  files: readonly FilePart[],
  maxBytes: number,
): Promise<UploadedFile> {
  const [file, ...more] = files;
  if (!file) throw badRequest('You must specify a file to upload');
  if (more.length > 0) throw badRequest('You may only upload one file at a time');
  if (file.bytes.length > maxBytes) throw tooLarge(maxBytes);
  const { put } = chunksOf(operation);
  const key = randomUUID();
  const hash = createHash('sha256');
  const count = Math.ceil(file.bytes.length / fileChunkBytes);
  let next = 0;
  const sendOne = async (): Promise<void> => {
    const ordinal = next++;
    const bytes = file.bytes.subarray(ordinal * fileChunkBytes, (ordinal + 1) * fileChunkBytes);
    hash.update(bytes);
    const size = ordinal === 0 ? file.bytes.length : undefined;
    await bus.call(put, { file_key: key, ordinal, bytes: bytes.toString('base64'), size }, { meta });
  };
  const sendOn = async (): Promise<void> => {
    while (next < count) await sendOne();
  };
  // The first chunk is sent alone: if the realm has no room for the file, nothing is stored.
  if (count > 0) await sendOne();
  await Promise.all(Array.from({ length: Math.min(abreast, count) }, sendOn));
  return {
    key,
    name: shortName(file.name, maxName),
    content_type: shortName(file.contentType, maxName),
    size: file.bytes.length,
    sha256: hash.digest('hex'),
  };
}

/**
 * Deletes the chunks of an upload that were not kept: its request was refused, or it repeated another one. An outcome
 * that is unknown may still be a success, and a process of the previous release deletes nothing: these chunks count
 * against the quota of the realm until they are deleted, after an hour.
 */
export async function discardUnkept<R>(
  bus: Bus,
  { operation, meta }: FileRequest,
  { key }: UploadedFile,
  request: () => Promise<R>,
): Promise<R> {
  const discard = () => bus.call(chunksOf(operation).discard, { file_key: key }, { meta }).catch(() => undefined);
  try {
    const result = await request();
    await discard();
    return result;
  } catch (error) {
    if (isRefusal(error)) await discard();
    throw error;
  }
}

export const tooLarge = (maxBytes: number) =>
  badRequest(`Uploaded file is larger than the allowed limit of ${Math.floor(maxBytes / 1024 / 1024)} MiB`);

interface Sending {
  reply: FastifyReply;
  asked: FileRange;
  isHead: boolean;
  /** Called before each MiB is sent, except the first. */
  beforeMore?: (() => Promise<void>) | undefined;
}

const mebibyte = 1024 * 1024;

/** Sends a stored file, or the requested range of it, at the speed of its reader. */
export function sendFile(
  bus: Bus,
  { operation, meta }: FileRequest,
  { key, size }: NonNullable<Page['file']>,
  { reply, asked, isHead, beforeMore }: Sending,
): FastifyReply {
  const { read } = chunksOf(operation);
  reply.header('accept-ranges', 'bytes');
  if (asked === 'none') return reply.code(416).header('content-range', `bytes */${size}`).send('');
  const [from, to] = asked ?? [0, size - 1];
  if (asked) reply.code(206).header('content-range', `bytes ${from}-${to}/${size}`);
  reply.header('content-length', bytesOf(asked, size));
  if (isHead || size === 0) return reply.send('');
  return reply.send(streamOf(chunks(), Math.min(size, heldChunks * fileChunkBytes)));

  async function* chunks(): AsyncGenerator<Buffer> {
    let sent = 0;
    let counted = mebibyte;
    for (let ordinal = Math.floor(from / fileChunkBytes); ordinal * fileChunkBytes <= to; ordinal++) {
      // The turn of the request has ended, so nobody is charged. Requests beside it must not be.
      const bytes = await withoutCharge(async () => {
        const answer = await bus.call(read, { file_key: key, ordinal }, { meta });
        return Buffer.from(answer.bytes, 'base64');
      });
      const start = ordinal * fileChunkBytes;
      // The file was deleted during the transfer: the incomplete response shows it.
      if (bytes.length === 0) throw new Error(`chunk ${ordinal} of a file is gone`);
      const wanted = bytes.subarray(Math.max(from - start, 0), to - start + 1);
      for (sent += wanted.length; beforeMore && sent > counted; counted += mebibyte) await beforeMore();
      yield wanted;
    }
  }
}

/** The first and the last byte that a request is for. 'none': the file has no such bytes; undefined: the whole file. */
type FileRange = [number, number] | 'none' | undefined;

/** A single byte range, as browsers request when they seek in a video; other headers get the whole file. */
export function rangeOf(header: string | undefined, size: number): FileRange {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  const [, first, last] = match ?? [];
  if (!match || (first === '' && last === '')) return undefined;
  const from = first === '' ? Math.max(size - Number(last), 0) : Number(first);
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return from > to || from >= size ? 'none' : [from, to];
}

/** Number of bytes of a file that the answer to a request has. */
export function bytesOf(asked: FileRange, size: number): number {
  if (asked === 'none') return 0;
  return asked ? asked[1] - asked[0] + 1 : size;
}
