import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { ChatError } from '@natter/contracts';
import type { FastifyInstance } from 'fastify';
import { acceptsBrotli } from '../http/headers.ts';
import { docsSite, type Folders, type SiteFile } from './site.ts';

/** Scripts, styles and requests of this origin alone: no inline code, no other hosts, no frames. */
const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'"],
  ...["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
].join('; ');

const compress = promisify(brotliCompress);
const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };

/** Serves the documentation at `/docs`. A page is generated when it is first requested: most gateways never show one. */
export function serveDocsSite(app: FastifyInstance, folders: Folders): void {
  const site = docsSite(folders, {
    linkTo: (page, part) => `/docs${page === 'index' ? '' : `/${page}`}${part === undefined ? '' : `#${part}`}`,
    linkToFile: (name) => `/docs/${name}`,
    canTry: true,
  });
  const made = new Map<string, { plain: Buffer; brotli: Promise<Buffer> }>();
  const make = (name: string, file: SiteFile): { plain: Buffer; brotli: Promise<Buffer> } => {
    const known = made.get(name);
    if (known) return known;
    const plain = Buffer.from(file.text());
    const fresh = { plain, brotli: compress(plain, { params }) };
    made.set(name, fresh);
    return fresh;
  };
  for (const url of ['/docs', '/docs/:name'])
    app.get<{ Params: { name?: string } }>(url, async (request, reply) => {
      const { name = 'index' } = request.params;
      const file = site.get(name);
      if (!file || request.url.startsWith('/docs/index')) throw new ChatError('NOT_FOUND', 'Not found');
      const { plain, brotli } = make(name, file);
      const isBrotli = acceptsBrotli(request);
      if (isBrotli) reply.header('content-encoding', 'br');
      return reply
        .type(file.type)
        .header('vary', 'accept-encoding')
        .header('cache-control', 'no-cache')
        .header('content-security-policy', policy)
        .header('referrer-policy', 'same-origin')
        .send(isBrotli ? await brotli : plain);
    });
}
