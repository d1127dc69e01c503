import type { FastifyInstance } from 'fastify';
import { asyncApi } from './async-api.ts';
import { docsPage } from './docs-page.ts';
import { openApi } from './open-api.ts';

/** The API's description of itself. It is the same for everybody, so each document is made once. */
export function serveDocuments(app: FastifyInstance): void {
  const documents = [
    ['/openapi.json', 'application/json; charset=utf-8', JSON.stringify(openApi())],
    ['/asyncapi.json', 'application/json; charset=utf-8', JSON.stringify(asyncApi())],
    ['/docs', 'text/html; charset=utf-8', docsPage()],
  ] as const;
  for (const [url, type, text] of documents) {
    const bytes = Buffer.from(text);
    app.get(url, async (_, reply) => reply.type(type).send(bytes));
  }
}
