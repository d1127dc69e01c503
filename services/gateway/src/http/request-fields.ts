import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { badRequest, ChatError, maxUnits, slackUnits, streamsBody } from '@natter/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readBody } from './read-body.ts';
import { tusBodyType } from './tus-headers.ts';

/** Form fields by name. Of several fields with one name the last counts. */
export type Fields = Record<string, string>;

export interface FilePart {
  name: string;
  contentType: string;
  bytes: Buffer;
}

/** A received body, and how to parse its form. */
interface Body {
  bytes: Buffer;
  parse: (bytes: Buffer) => Form | Promise<Form>;
}

export interface Form {
  fields: Fields;
  files: FilePart[];
}

const maxFields = 2_000;
const maxFiles = 20;
/** The parser needs some 0.2 ms for each part, whatever its size. No operation has a third as many parameters. */
const maxParts = 300;
/** A large body is parsed in slices, and other requests are served in between. */
const sliceBytes = 512 * 1024;
const largeBytes = 16 * 1024;

/** Bodies are forms, urlencoded or multipart, for every method. They are received here, and parsed by `readForm`. */
export function acceptForms(app: FastifyInstance): void {
  app.addHttpMethod('GET', { hasBody: true, override: true } as never);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (request: FastifyRequest, payload: Readable): Promise<Body> => ({
      bytes: await readBody(request, payload),
      parse: (bytes) => ({ fields: parseForm(bytes.toString('latin1'), longestField(request)), files: [] }),
    }),
  );
  app.addContentTypeParser(
    'multipart/form-data',
    async (request: FastifyRequest, payload: Readable): Promise<Body> => ({
      bytes: await readBody(request, payload),
      parse: (bytes) => parseMultipart(String(request.headers['content-type']), bytes),
    }),
  );
  // Resumable uploads read the body while they store it.
  app.addContentTypeParser(tusBodyType, async (request: FastifyRequest, payload: Readable) =>
    request.admitted?.operation && streamsBody(request.admitted.operation) ? undefined : refuseOther(request, payload),
  );
  app.addContentTypeParser('*', refuseOther);
}

async function refuseOther(request: FastifyRequest, payload: Readable): Promise<undefined> {
  if (Number(request.headers['content-length'] ?? 0) > 0 || (await readBody(request, payload)).length > 0)
    throw badRequest('The body must be application/x-www-form-urlencoded or multipart/form-data');
  return undefined;
}

const noForm: Form = { fields: {}, files: [] };

/** The form in the body of a request. `inTurn` decides when a large one is parsed, because that delays others. */
export async function readForm(
  request: FastifyRequest,
  inTurn: <R>(work: () => Promise<R>) => Promise<R>,
): Promise<Form> {
  const body = request.body as Body | undefined;
  if (!body) return noForm;
  // Frees the raw bytes; only the form is kept.
  request.body = undefined;
  const parse = async (): Promise<Form> => body.parse(body.bytes);
  return body.bytes.length > largeBytes ? inTurn(parse) : parse();
}

/** Body first, then query, for every method. */
export const fieldsOf = (request: FastifyRequest, { fields }: Form): Fields =>
  Object.assign(noFields(), queryFieldsOf(request.raw.url), fields);

export function queryFieldsOf(url = ''): Fields {
  const at = url.indexOf('?');
  return at < 0 ? noFields() : parseForm(url.slice(at + 1));
}

/** Without a prototype, because a field may have any name. */
const noFields = (): Fields => Object.create(null) as Fields;

/** A UTF-16 unit has at most three bytes in UTF-8, each percent-encoded in three characters. */
const encodedPerUnit = 9;

/** Maximum length of a field by its name, in UTF-16 units: that of the parameter, whichever method the request names. */
function longestField({ admitted }: FastifyRequest): (name: string) => number {
  const params = (admitted?.place.operations ?? []).flatMap((operation) => Object.entries(operation.params));
  return (name) =>
    params.reduce(
      (most, [own, param]) => (own === name || param.aliases.includes(name) ? Math.max(most, maxUnits(param)) : most),
      slackUnits,
    );
}

/**
 * Strict: invalid UTF-8 is refused, never replaced. A field that is certainly too long stays encoded, because decoding
 * takes time: it is refused for its length, or ignored.
 */
export function parseForm(text: string, longest: (name: string) => number = () => Number.POSITIVE_INFINITY): Fields {
  const fields = noFields();
  if (text === '') return fields;
  const pairs = text.split('&');
  if (pairs.length > maxFields) throw badRequest('Too many fields');
  for (const pair of pairs) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decodeText(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? '' : pair.slice(at + 1);
    const isShort = value.length <= encodedPerUnit * slackUnits || value.length <= encodedPerUnit * longest(name);
    fields[name] = isShort ? decodeText(value) : value;
  }
  return fields;
}

/** Decodes percent-encoded text; unencoded bytes are accepted too. A `%` without two hexadecimal digits is literal. */
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

export function parseMultipart(contentType: string, body: Buffer): Promise<Form> {
  return new Promise((resolve, reject) => {
    const fields = noFields();
    const files: FilePart[] = [];
    let isFailed = false;
    const fail = (error: unknown): void => {
      isFailed = true;
      reject(error instanceof ChatError ? error : badRequest('The multipart body is malformed'));
    };
    /** Whether the body itself has the character that replaces invalid UTF-8. The body is searched once, whatever the number of fields. */
    let hasReplacement: boolean | undefined;
    try {
      const boundary = boundaryOf(contentType);
      if (hasMoreParts(boundary, body)) throw badRequest('Too many fields');
      const parser = new Busboy({
        headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
        limits: {
          fields: maxParts,
          files: maxFiles,
          parts: maxParts,
          fieldSize: body.length + 1,
          headerPairs: 20,
          headerSize: 16_384,
        },
      });
      for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const)
        parser.on(limit, () => fail(badRequest('Too many fields')));
      parser.on('field', (name, value) => {
        if (value.includes('\ufffd')) {
          hasReplacement ??= body.includes('\ufffd');
          if (!hasReplacement) fail(badRequest('The request is not valid UTF-8'));
        }
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
      void feed(parser, body, () => isFailed).catch(fail);
    } catch (error) {
      fail(error);
    }
  });
}

/** As RFC 2046 allows it. The parser is given nothing else, so it and `hasMoreParts` never read different boundaries. */
function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]*))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  if (!/^[\w'()+,./:=? -]{1,200}$/.test(boundary)) throw badRequest('The multipart body has no boundary');
  return boundary;
}

/** Counted before the parser begins: it spends time on each part, also on those above its limits. */
function hasMoreParts(boundary: string, body: Buffer): boolean {
  const delimiter = `\r\n--${boundary}`;
  let parts = 0;
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + delimiter.length))
    if (++parts > maxParts) return true;
  return false;
}

async function feed(parser: InstanceType<typeof Busboy>, body: Buffer, isFailed: () => boolean): Promise<void> {
  for (let at = 0; at < body.length; at += sliceBytes) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    if (isFailed()) return;
    parser.write(body.subarray(at, at + sliceBytes));
  }
  parser.end();
}
