import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { badRequest, ChatError, isStorable, maxUnits, slackUnits, streamsBody } from '@natter/contracts';
import { stringBytes } from '@natter/service-kit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tenantOf } from '../rate-limit/tenant.ts';
import type { BodyTurns } from './body-turns.ts';
import { declaredForm } from './declared-form.ts';
import { readBody } from './read-body.ts';
import { tusBodyType } from './tus-headers.ts';

/** Form fields by name. Of several fields with one name the last counts. */
export type Fields = Record<string, string>;

export interface FilePart {
  name: string;
  contentType: string;
  bytes: Buffer;
}

/** Runs work on a part of a body. Parts of large bodies wait for their turn. */
type InPart = <R>(work: () => R) => R | Promise<R>;
const atOnce: InPart = (work) => work();

/** A received body, and how to parse its form. */
interface Body {
  bytes: Buffer;
  parse: (bytes: Buffer, inPart: InPart) => Form | Promise<Form>;
}

export interface Form {
  fields: Fields;
  files: FilePart[];
}

const maxFields = 2_000;
const maxFiles = 20;
/** The parser needs some 0.2 ms for each part, whatever its size. No operation has a third as many parameters. */
const maxParts = 300;
/** A larger body is parsed in turns: in slices of this size with so many parts in each, on average. */
const parsedAtOnceBytes = 16 * 1024;
const sliceBytes = 128 * 1024;
const partsOfSlice = 20;

/** Bodies are forms, urlencoded or multipart, for every method. They are received here, and parsed by `readForm`. */
export function acceptForms(app: FastifyInstance, turns: BodyTurns): void {
  const refuseOther = async (request: FastifyRequest, payload: Readable): Promise<undefined> => {
    if (Number(request.headers['content-length'] ?? 0) > 0 || (await readBody(request, payload, turns)).length > 0)
      throw badRequest('The body must be application/x-www-form-urlencoded or multipart/form-data');
    return undefined;
  };
  app.addHttpMethod('GET', { hasBody: true, override: true } as never);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (request: FastifyRequest, payload: Readable): Promise<Body> => ({
      bytes: await readBody(request, payload, turns),
      parse: (bytes, inPart) => inPart(() => ({ fields: parseForm(bytes, longestField(request)), files: [] })),
    }),
  );
  app.addContentTypeParser(
    'multipart/form-data',
    async (request: FastifyRequest, payload: Readable): Promise<Body> => ({
      bytes: await readBody(request, payload, turns),
      parse: (bytes, inPart) => parseMultipart(String(request.headers['content-type']), bytes, inPart),
    }),
  );
  // Resumable uploads read the body while they store it.
  app.addContentTypeParser(tusBodyType, async (request: FastifyRequest, payload: Readable) =>
    request.admitted?.operation && streamsBody(request.admitted.operation) ? undefined : refuseOther(request, payload),
  );
  app.addContentTypeParser('*', refuseOther);
}

/** Whether the request has a form that `readForm` parses in turns. */
export const isLargeBody = (request: FastifyRequest): boolean =>
  ((request.body as Body | undefined)?.bytes.length ?? 0) > parsedAtOnceBytes;

/** The form in the body of a request. `inTurn` decides when a large one is parsed, because that delays others. */
export async function readForm(
  request: FastifyRequest,
  turns: BodyTurns,
  inTurn: <R>(work: () => Promise<R>) => Promise<R>,
): Promise<Form> {
  const body = request.body as Body | undefined;
  if (!body) return { fields: noFields(), files: [] };
  const isLarge = isLargeBody(request);
  // Frees the raw bytes; only the form is kept.
  request.body = undefined;
  const { admitted } = request;
  if (!admitted) return body.parse(body.bytes, atOnce);
  const tenant = tenantOf(admitted);
  const form = isLarge
    ? await inTurn(async () => body.parse(body.bytes, (work) => turns.run({ tenant }, work)))
    : await body.parse(body.bytes, atOnce);
  const texts = Object.values(form.fields).reduce((sum, text) => sum + stringBytes(text), 0);
  // Files are parts of the body, which stays in memory with them.
  const more = form.files.length > 0 ? texts : texts - body.bytes.length;
  if (more > 0) admitted.lease.grow(more);
  return form;
}

/** Body first, then query, for every method. Without a query these are the fields of the form itself. */
export const fieldsOf = ({ raw: { url } }: FastifyRequest, { fields }: Form): Fields =>
  url?.includes('?') ? Object.assign(queryFieldsOf(url), fields) : fields;

export function queryFieldsOf(url = ''): Fields {
  const at = url.indexOf('?');
  return at < 0 ? noFields() : parseForm(bytesOf(url.slice(at + 1)));
}

/** An empty object without a prototype, because a field may have any name. */
const noFields = (): Fields => Object.create(null) as Fields;

/** A UTF-16 unit has at most three bytes in UTF-8, each percent-encoded in three characters. */
const encodedPerUnit = 9;

/** Maximum length of a field by its name, in UTF-16 units: that of the parameter, whichever method the request names. */
function longestField({ admitted }: FastifyRequest): (name: string) => number {
  const operations = admitted?.place.operations ?? [];
  return (name) => {
    let most = slackUnits;
    for (const operation of operations)
      for (const { param, names } of declaredForm(operation).params)
        if (names.includes(name)) most = Math.max(most, maxUnits(param));
    return most;
  };
}

/**
 * Strict: invalid UTF-8 is refused, never replaced. A field that is certainly too long stays encoded, because decoding
 * takes time: it is refused for its length, or ignored. Overwrites the bytes.
 */
export function parseForm(body: Buffer, longest: (name: string) => number = () => Number.POSITIVE_INFINITY): Fields {
  const fields = noFields();
  let pairs = 0;
  for (let next = 0; next < body.length; ) {
    const begin = next;
    const found = body.indexOf(ampersand, begin);
    const end = found < 0 ? body.length : found;
    next = end + 1;
    if (++pairs > maxFields) throw badRequest('Too many fields');
    if (end === begin) continue;
    const pair = body.subarray(begin, end);
    const at = pair.indexOf(equals);
    const name = decodeBytes(at < 0 ? pair : pair.subarray(0, at));
    const value = at < 0 ? pair.subarray(pair.length) : pair.subarray(at + 1);
    const isShort = value.length <= encodedPerUnit * slackUnits || value.length <= encodedPerUnit * longest(name);
    fields[name] = isShort ? decodeBytes(value) : value.toString('latin1');
  }
  return fields;
}

/** Decodes percent-encoded text; unencoded bytes are accepted too. A `%` without two hexadecimal digits is literal. */
export const decodeText = (encoded: string): string =>
  /[%+\u0080-\uffff]/.test(encoded) ? decodeBytes(bytesOf(encoded)) : encoded;

const bytesOf = (encoded: string): Buffer => Buffer.from(encoded, /[\u0100-\uffff]/.test(encoded) ? 'utf8' : 'latin1');

/** Like `decodeText`. Overwrites the bytes. */
function decodeBytes(bytes: Buffer): string {
  const decoded = bytes.includes(percent) || bytes.includes(plus) ? decodeInPlace(bytes) : bytes;
  if (!isUtf8(decoded)) throw badRequest('The request is not valid UTF-8');
  return decoded.toString('utf8');
}

function decodeInPlace(bytes: Buffer): Buffer {
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    const code = byte === percent ? (hexOf(bytes[at + 1]) << 4) | hexOf(bytes[at + 2]) : -1;
    if (code >= 0) at += 2;
    bytes[size++] = code >= 0 ? code : byte === plus ? space : byte;
  }
  return bytes.subarray(0, size);
}

const [percent, plus, space, ampersand, equals] = [0x25, 0x2b, 0x20, 0x26, 0x3d];

/** The value of a hexadecimal digit; -1 for any other byte, which makes a combined value negative. */
function hexOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

export function parseMultipart(contentType: string, body: Buffer, inPart: InPart = atOnce): Promise<Form> {
  return new Promise((resolve, reject) => {
    const received: Part[] = [];
    let isFailed = false;
    const fail = (error: unknown): void => {
      isFailed = true;
      reject(error instanceof ChatError ? error : badRequest('The multipart body is malformed'));
    };
    try {
      const boundary = boundaryOf(contentType);
      const parts = countParts(boundary, body);
      if (parts > maxParts) throw badRequest('Too many fields');
      const parser = new Busboy({
        headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
        // Every part is delivered as bytes: the parser decodes fields in whichever charset their part names.
        isPartAFile: () => true,
        limits: {
          files: maxParts,
          parts: maxParts,
          headerPairs: 20,
          headerSize: 16_384,
        },
      });
      for (const limit of ['filesLimit', 'partsLimit'] as const)
        parser.on(limit, () => fail(badRequest('Too many fields')));
      parser.on('file', (...[field, stream, fileName, , contentType]) => {
        const isFile = fileName !== undefined || contentType === 'application/octet-stream';
        const part: Part = { field, isFile, name: fileName ?? '', contentType, bytes: Buffer.alloc(0) };
        received.push(part);
        if (received.filter((one) => one.isFile).length > maxFiles) fail(badRequest('Too many fields'));
        if (![field, part.name, contentType].every(isStorable))
          fail(badRequest('The header of a part contains a NUL character or half a surrogate pair'));
        const chunks: Buffer[] = [];
        // A body that ends inside a part fails its stream; without a listener that would end the process.
        stream.on('error', fail);
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          part.bytes = partOf(body, chunks);
          if (!isFile && !isUtf8(part.bytes)) fail(badRequest('The request is not valid UTF-8'));
        });
      });
      parser.on('error', fail);
      parser.on('finish', () => resolve(formOf(received)));
      void feed(parser, body, { parts, inPart, isFailed: () => isFailed }).catch(fail);
    } catch (error) {
      fail(error);
    }
  });
}

/**
 * The content of a part, without a copy: the chunks of a part follow each other in the body. The parser copies only the
 * few bytes at the end of a slice that may begin a delimiter.
 */
function partOf(body: Buffer, chunks: readonly Buffer[]): Buffer {
  let [size, start] = [0, -1];
  for (const chunk of chunks) {
    const at = chunk.byteOffset - body.byteOffset;
    const isView = chunk.buffer === body.buffer && at >= 0 && at < body.length;
    if (isView && start < 0) start = at - size;
    size += chunk.length;
  }
  return start >= 0 ? body.subarray(start, start + size) : Buffer.concat(chunks);
}

/** A part of a multipart body, in the order of the body. */
interface Part extends FilePart {
  field: string;
  isFile: boolean;
}

function formOf(parts: readonly Part[]): Form {
  const fields = noFields();
  for (const { field, isFile, bytes } of parts) if (!isFile) fields[field] = bytes.toString('utf8');
  return { fields, files: parts.filter(({ isFile }) => isFile) };
}

/** The boundary of a multipart body, for the parser and `countParts`. Throws BAD_REQUEST if RFC 2046 forbids it. */
function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]*))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  if (!/^[\w'()+,./:=? -]{1,200}$/.test(boundary)) throw badRequest('The multipart body has no boundary');
  return boundary;
}

/**
 * Up to one more than the limit. Counted before the parser begins: it spends time on each part, also on those above its limits.
 */
function countParts(boundary: string, body: Buffer): number {
  const delimiter = `\r\n--${boundary}`;
  let parts = 0;
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + delimiter.length))
    if (++parts > maxParts) break;
  return parts;
}

async function feed(
  parser: InstanceType<typeof Busboy>,
  body: Buffer,
  { parts, inPart, isFailed }: { parts: number; inPart: InPart; isFailed: () => boolean },
): Promise<void> {
  const step = Math.min(sliceBytes, Math.ceil(body.length / Math.ceil((parts + 1) / partsOfSlice)));
  for (let at = 0; at < body.length; at += step) {
    if (isFailed()) return;
    const slice = body.subarray(at, at + step);
    await inPart(() => parser.write(slice));
    // Parts that ended are checked before the next slice.
    await new Promise<void>(process.nextTick);
  }
  parser.end();
}
