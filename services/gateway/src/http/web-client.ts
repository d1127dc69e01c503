import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsBrotli } from './headers.ts';

interface File {
  type: string;
  bytes: Buffer;
  brotli: Buffer;
  /** The name changes with the content. */
  isHashed: boolean;
}

export interface WebClient {
  /** Answers a request for the client; `undefined` for all others. */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
}

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Scripts, styles and requests of this origin alone: no inline code, no other hosts, no frames. */
const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "media-src 'self'"],
  ...["connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
].join('; ');

/** Pages of the client; its router reads the rest of the path. */
const pagePath = /^\/(?:$|(?:channel|dm)\/|(?:inbox|recent|mentions|starred|search)$)/;

/** The first parts of paths at which programs expect errors of the API, beside those of operations. */
const programNames = ['api', 'json', 'docs', 'assets', 'static', 'health', '.well-known'];

const unbuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Natter</title></head>
<body><h1>The web client is not built</h1>
<p><code>npm start</code> and the image of a release contain it.</p>
<p>The API is described at <a href="/docs">/docs</a>.</p></body></html>
`;

/**
 * The built web client in a folder. Its files are kept in memory: they are few, and belong to this release. At paths that
 * nobody knows, it tells browsers that there is no such page; `otherPaths` are those of operations.
 */
export function createWebClient(folder: string, otherPaths: readonly string[]): WebClient {
  const otherNames = new Set([...programNames, ...otherPaths.map(firstNameOf)]);
  const files = readFiles(folder);
  const page = files.get('/index.html') ?? fileOf('index.html', Buffer.from(unbuilt));
  return {
    answer(request, reply) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
      const path = request.url.split('?', 1)[0] ?? '';
      if (path.startsWith('/assets/')) {
        const file = files.get(path);
        return file && send(request, reply, file);
      }
      if (pagePath.test(path) && acceptsAnything(request)) return send(request, reply, page);
      if (!acceptsPages(request)) return undefined;
      return otherNames.has(firstNameOf(path)) ? undefined : send(request, reply.code(404), page);
    },
  };
}

/** Repeated slashes count as one. */
const firstNameOf = (path: string): string => path.split('/').find((name) => name !== '') ?? '';

/** Whether a request accepts HTML or anything, like those of monitors and `curl`. Paths of pages then serve pages. */
const acceptsAnything = ({ headers }: FastifyRequest): boolean =>
  headers.accept === undefined || /text\/html|\*\/\*/.test(headers.accept);

/** At other paths, programs that accept anything get the errors of the API. */
const acceptsPages = ({ headers }: FastifyRequest): boolean => (headers.accept ?? '').includes('text/html');

function send(request: FastifyRequest, reply: FastifyReply, file: File): FastifyReply {
  const isBrotli = acceptsBrotli(request) && file.brotli.length > 0;
  const bytes = isBrotli ? file.brotli : file.bytes;
  reply
    .type(file.type)
    .header('vary', file.isHashed ? 'accept-encoding' : 'accept, accept-encoding')
    .header('content-length', bytes.length);
  // The page names the other files, so it is asked each time.
  reply.header('cache-control', file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  reply.header('content-security-policy', policy).header('referrer-policy', 'same-origin');
  reply.header('cross-origin-opener-policy', 'same-origin');
  if (isBrotli) reply.header('content-encoding', 'br');
  return reply.send(request.method === 'HEAD' ? '' : bytes);
}

function readFiles(folder: string): Map<string, File> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => fileType(name) !== undefined,
  );
  return new Map(
    names.map((name) => {
      const brotli = `${join(folder, name)}.br`;
      const file = fileOf(name, readFileSync(join(folder, name)));
      return [`/${name}`, { ...file, brotli: existsSync(brotli) ? readFileSync(brotli) : file.brotli }];
    }),
  );
}

const fileType = (name: string): string | undefined => types[name.split('.').at(-1) ?? ''];

const fileOf = (name: string, bytes: Buffer): File => ({
  type: fileType(name) ?? '',
  bytes,
  brotli: Buffer.alloc(0),
  isHashed: /-[\w-]{8}\.\w+$/.test(name),
});
