import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  badRequest,
  fileChunkBytes,
  fileOperations,
  type Operation,
  type Page,
  type RequestMeta,
  type UploadedFile,
} from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import type { FastifyReply } from 'fastify';
import type { FilePart } from './request-fields.ts';

/** Chunks of one file that are on their way at a time. */
const abreast = 4;

const controls = /\p{Cc}/gu;
/** Characters of a file's name, and of its type. */
const maxName = 255;

/** The name of the parameter that is the form's file, where the operation takes one. */
export const fileParamOf = (operation: Operation): string | undefined =>
  Object.entries(operation.params).find(([, param]) => param.encoding === 'file')?.[0];

/** Whether a form of the operation holds a file, sent in chunks or as a parameter. */
export const takesFile = (operation: Operation): boolean =>
  operation.params.file !== undefined || fileParamOf(operation) !== undefined;

const chunksOf = (operation: Operation) => {
  const found = fileOperations[operation.service as keyof typeof fileOperations];
  if (!found) throw new Error(`${operation.service} keeps no files`);
  return found;
};

/** Gives the owner of an operation the form's one file, chunk by chunk, so that it holds up nothing else on the way. */
export async function handOver(
  bus: Bus,
  operation: Operation,
  files: readonly FilePart[],
  meta: RequestMeta,
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
  const sendOn = async (): Promise<void> => {
    while (next < count) {
      const ordinal = next++;
      const bytes = file.bytes.subarray(ordinal * fileChunkBytes, (ordinal + 1) * fileChunkBytes);
      hash.update(bytes);
      await bus.call(put, { file_key: key, ordinal, bytes: bytes.toString('base64') }, { meta });
    }
  };
  await Promise.all(Array.from({ length: Math.min(abreast, count) }, sendOn));
  return {
    key,
    // Postgres stores no NUL; control characters have no place in a header.
    name: file.name.replaceAll(controls, '').slice(0, maxName),
    content_type: file.contentType.slice(0, maxName),
    size: file.bytes.length,
    sha256: hash.digest('hex'),
  };
}

export const tooLarge = (maxBytes: number) =>
  badRequest(`Uploaded file is larger than the allowed limit of ${Math.floor(maxBytes / 1024 / 1024)} MiB`);

/** Sends a stored file as its reader takes it, a part of it where one is asked for. */
export function sendFile(
  bus: Bus,
  operation: Operation,
  { key, size }: NonNullable<Page['file']>,
  meta: RequestMeta,
  { reply, range, isHead }: { reply: FastifyReply; range: string | undefined; isHead: boolean },
): FastifyReply {
  const { read } = chunksOf(operation);
  const asked = rangeOf(range, size);
  reply.header('accept-ranges', 'bytes');
  if (asked === 'none') return reply.code(416).header('content-range', `bytes */${size}`).send('');
  const [from, to] = asked ?? [0, size - 1];
  if (asked) reply.code(206).header('content-range', `bytes ${from}-${to}/${size}`);
  reply.header('content-length', to - from + 1);
  if (isHead || size === 0) return reply.send('');
  return reply.send(Readable.from(chunks(), { objectMode: false }));

  async function* chunks(): AsyncGenerator<Buffer> {
    for (let ordinal = Math.floor(from / fileChunkBytes); ordinal * fileChunkBytes <= to; ordinal++) {
      const answer = await bus.call(read, { file_key: key, ordinal }, { meta });
      const bytes = Buffer.from(answer.bytes, 'base64');
      const start = ordinal * fileChunkBytes;
      // Deleted while it was sent: the reader sees that it is not whole.
      if (bytes.length === 0) throw new Error(`chunk ${ordinal} of a file is gone`);
      yield bytes.subarray(Math.max(from - start, 0), to - start + 1);
    }
  }
}

/** One range of bytes, as browsers ask when they seek in a video; anything else is answered whole. */
function rangeOf(header: string | undefined, size: number): [number, number] | 'none' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  const [, first, last] = match ?? [];
  if (!match || (first === '' && last === '')) return undefined;
  const from = first === '' ? Math.max(size - Number(last), 0) : Number(first);
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return from > to || from >= size ? 'none' : [from, to];
}
