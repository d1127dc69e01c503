import type { Page } from '@natter/contracts';
import type { FastifyReply } from 'fastify';
import { streamOf } from './answer-memory.ts';
import type { ReceivedPage } from './page-pieces.ts';

/** For pages: no scripts, no content of other sites, and no frames. */
export const noScripts =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** `hasForm`: browsers name the origin of a form only where the policy lets them name the page to its own origin. */
export function sendPage(
  reply: FastifyReply,
  { page, content }: ReceivedPage,
  { hasForm, isHead }: { hasForm: boolean; isHead: boolean },
): FastifyReply {
  setPageHeaders(reply, page);
  if (hasForm) reply.header('referrer-policy', 'same-origin');
  if (!content) return reply.send(page.is_base64 ? Buffer.from(page.body, 'base64') : page.body);
  reply.header('content-length', content.size);
  if (isHead || content.size === 0) return reply.send('');
  return reply.send(streamOf(content.chunks(), content.heldBytes));
}

export function setPageHeaders(reply: FastifyReply, page: Page): void {
  reply.code(page.status).type(page.content_type);
  if (page.location !== undefined) reply.header('location', page.location);
  if (page.cache_seconds > 0) reply.header('cache-control', `private, max-age=${page.cache_seconds}`);
  // Uploaded content must never run as a script of this origin.
  reply.header('content-security-policy', noScripts).header('referrer-policy', 'no-referrer');
  if (page.disposition !== undefined) reply.header('content-disposition', page.disposition);
}
