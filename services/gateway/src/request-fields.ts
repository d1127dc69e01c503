import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { badRequest, ChatError } from '@natter/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readBody } from './read-body.ts';

/** Form fields by name. Of fields with one name the last counts. */
export type Fields = Record<string, string>;

export interface FilePart {
  name: string;
  contentType: string;
  bytes: Buffer;
}

interface Form {
  fields: Fields;
  files: FilePart[];
}

const maxFields = 2_000;
const maxFiles = 20;
/** A large body is read in slices, and others are served between them. */
const sliceBytes = 512 * 1024;

/** Bodies are forms, urlencoded or multipart, for every verb. */
export function acceptForms(app: FastifyInstance): void {
  app.addHttpMethod('GET', { hasBody: true, override: true } as never);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (request: FastifyRequest, payload: Readable): Promise<Form> => ({
      fields: parseForm((await readBody(request, payload)).toString('latin1')),
      files: [],
    }),
  );
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: Readable) =>
    parseMultipart(String(request.headers['content-type']), await readBody(request, payload)),
  );
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable): Promise<Form> => {
    if (Number(request.headers['content-length'] ?? 0) > 0 || (await readBody(request, payload)).length > 0)
      throw badRequest('The body must be application/x-www-form-urlencoded or multipart/form-data');
    return { fields: {}, files: [] };
  });
}

/** Body first, then query, for every verb. */
export const fieldsOf = (request: FastifyRequest): Fields => {
  const fields = noFields();
  return Object.assign(fields, queryFieldsOf(request.raw.url), bodyFieldsOf(request));
};

export function queryFieldsOf(url = ''): Fields {
  const at = url.indexOf('?');
  return at < 0 ? noFields() : parseForm(url.slice(at + 1));
}

export const bodyFieldsOf = (request: FastifyRequest): Fields => (request.body as Form | undefined)?.fields ?? {};

/** The files of a form, whatever their parts are called. */
export const filesOf = (request: FastifyRequest): FilePart[] => (request.body as Form | undefined)?.files ?? [];

/** Without a prototype: a field may have any name. */
const noFields = (): Fields => Object.create(null) as Fields;

/** Strict: what does not stand for UTF-8 is refused, never replaced. */
function parseForm(text: string): Fields {
  const fields = noFields();
  if (text === '') return fields;
  const pairs = text.split('&');
  if (pairs.length > maxFields) throw badRequest('Too many fields');
  for (const pair of pairs) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decodeText(at < 0 ? pair : pair.slice(0, at));
    fields[name] = at < 0 ? '' : decodeText(pair.slice(at + 1));
  }
  return fields;
}

/** Percent-encoded text; bytes that stand as they are count too. A `%` without two hexadecimal digits stands for itself. */
export function decodeText(encoded: string): string {
  if (!/[%+\u0080-\uffff]/.test(encoded)) return encoded;
  const bytes = Buffer.from(encoded, /[\u0100-\uffff]/.test(encoded) ? 'utf8' : 'latin1');
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    const code = byte === percent ? (hexOf(bytes[at + 1]) << 4) | hexOf(bytes[at + 2]) : -1;
    if (code >= 0) at += 2;
    bytes[size++] = code >= 0 ? code : byte === plus ? space : byte;
  }
  const decoded = bytes.subarray(0, size);
  if (!isUtf8(decoded)) throw badRequest('The request is not valid UTF-8');
  return decoded.toString('utf8');
}

const [percent, plus, space] = [0x25, 0x2b, 0x20];

/** The value of a hexadecimal digit; -1 for any other byte, which makes a combined value negative. */
function hexOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function parseMultipart(contentType: string, body: Buffer): Promise<Form> {
  return new Promise((resolve, reject) => {
    const fields = noFields();
    const files: FilePart[] = [];
    const fail = (error: unknown): void =>
      reject(error instanceof ChatError ? error : badRequest('The multipart body is malformed'));
    try {
      const parser = new Busboy({
        headers: { 'content-type': contentType },
        limits: {
          fields: maxFields,
          files: maxFiles,
          parts: maxFields + maxFiles,
          fieldSize: body.length + 1,
          headerPairs: 20,
          headerSize: 16_384,
        },
      });
      for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const)
        parser.on(limit, () => fail(badRequest('Too many fields')));
      parser.on('field', (name, value) => {
        // The parser replaces what is no UTF-8; only that brings this character where the body has none.
        if (value.includes('\ufffd') && !body.includes('\ufffd')) fail(badRequest('The request is not valid UTF-8'));
        fields[name] = value;
      });
      parser.on('file', (_, stream, name, __, contentType) => {
        if (name?.includes('\0')) fail(badRequest('The file name contains a NUL character'));
        const chunks: Buffer[] = [];
        // A body that ends inside a file fails its stream; without a listener that would end the process.
        stream.on('error', fail);
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          files.push({ name: name ?? '', contentType, bytes: Buffer.concat(chunks) });
        });
      });
      parser.on('error', fail);
      parser.on('finish', () => resolve({ fields, files }));
      void feed(parser, body).catch(fail);
    } catch (error) {
      fail(error);
    }
  });
}

async function feed(parser: InstanceType<typeof Busboy>, body: Buffer): Promise<void> {
  for (let at = 0; at < body.length; at += sliceBytes) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    parser.write(body.subarray(at, at + sliceBytes));
  }
  parser.end();
}
