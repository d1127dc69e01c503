import { defaultIconPath } from '@natter/contracts';
import type { FastifyInstance } from 'fastify';
import { noScripts } from '../http/send-page.ts';
import { asyncApi } from './async-api.ts';
import { openApi } from './open-api.ts';
import { serverMark } from './server-mark.ts';

const success = JSON.stringify({ result: 'success', msg: '' });

/**
 * The API's documents, and fixed answers to other requests of clients. They do not depend on the caller, so each is generated
 * once.
 */
export function serveDocuments(app: FastifyInstance): void {
  const documents = [
    ['/openapi.json', 'application/json; charset=utf-8', JSON.stringify(openApi())],
    ['/asyncapi.json', 'application/json; charset=utf-8', JSON.stringify(asyncApi())],
    // The gateway accepts requests; probes of dependencies are not public.
    ['/health', 'application/json; charset=utf-8', success],
    // Clients request this path to check whether they are too old. All versions are accepted.
    ['/compatibility', 'application/json; charset=utf-8', success],
    // The path of the server's own emoji is built into clients.
    ['/static/generated/emoji/images/emoji/unicode/zulip.png', 'image/png', serverMark(64)],
    [defaultIconPath, 'image/png', serverMark(256)],
  ] as const;
  for (const [url, type, text] of documents) {
    const bytes = Buffer.from(text);
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (_, reply) => reply.type(type).header('content-security-policy', noScripts).send(bytes),
    });
  }
}
