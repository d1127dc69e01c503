import type { Page } from '@natter/contracts';
import type { FastifyReply } from 'fastify';

export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  setPageHeaders(reply, page);
  return reply.send(page.is_base64 ? Buffer.from(page.body, 'base64') : page.body);
}

export function setPageHeaders(reply: FastifyReply, page: Page): void {
  reply.code(page.status).type(page.content_type);
  if (page.location !== undefined) reply.header('location', page.location);
  if (page.cache_seconds > 0) reply.header('cache-control', `private, max-age=${page.cache_seconds}`);
  // What people uploaded must never run as a script of this origin.
  reply.header(
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
  if (page.disposition !== undefined) reply.header('content-disposition', page.disposition);
}
