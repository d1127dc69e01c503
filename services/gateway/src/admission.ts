import { Readable } from 'node:stream';
import { type Actor, ChatError } from '@natter/contracts';
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import type { createRouter } from './router.ts';

/** What is read of somebody who is not known. */
const strangersBodyBytes = 1024 * 1024;

interface Admission {
  /** Called before a body is read; gives what may be read of it. */
  admit(request: FastifyRequest, reply: FastifyReply, payload: RequestPayload): Promise<RequestPayload>;
  /** Whom a request with a large body came from. */
  known(request: FastifyRequest): Actor | undefined;
}

/** Nobody fills our memory who is not known: before a large body is read, its sender is authenticated. */
export function createAdmission(
  router: ReturnType<typeof createRouter>,
  authenticate: (request: FastifyRequest, reply: FastifyReply) => Promise<Actor>,
): Admission {
  const actors = new WeakMap<FastifyRequest, Actor>();
  return {
    async admit(request, reply, payload) {
      const { authorization, 'content-length': length, 'transfer-encoding': encoding } = request.headers;
      const isLarge = encoding !== undefined || Number(length ?? 0) > strangersBodyBytes;
      if (!isLarge) return payload;
      const place = router.find(request.url.split('?')[0] ?? '');
      if (!place) throw new ChatError('NOT_FOUND', 'Not found');
      const isForUsers = place.operation(request.method)?.operation.caller === 'user';
      if (authorization === undefined && !isForUsers) return Readable.from(upTo(payload), { objectMode: false });
      actors.set(request, await authenticate(request, reply));
      return payload;
    },
    known: (request) => actors.get(request),
  };
}

/** What is beyond is heard out for a while, but not kept, so that its sender hears why it is refused. */
async function* upTo(payload: RequestPayload): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of payload as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= strangersBodyBytes) yield chunk;
    else if (size > 64 * strangersBodyBytes) break;
  }
  if (size > strangersBodyBytes) throw new ChatError('REQUEST_TOO_LARGE', 'The request is too large');
}
