import type { IncomingMessage } from 'node:http';
import { ChatError, type Operation, streamsBody } from '@natter/contracts';
import type { Logger } from '@natter/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { maxFileBytes, tooLarge } from '../http/files.ts';
import type { Router } from './router.ts';

export const sendError = (reply: FastifyReply, error: ChatError): FastifyReply => reply.send(errorBody(reply, error));

/** Sets the status and the headers of an error, and returns its body. */
export function errorBody(reply: FastifyReply, error: ChatError): object {
  if (error.status === 401)
    reply.header('www-authenticate', `${isOfBrowser(reply.request) ? 'Session' : 'Basic'} realm="zulip"`);
  if (error.code === 'RATE_LIMIT_HIT') reply.header('retry-after', Math.ceil(Number(error.extra['retry-after'] ?? 1)));
  if (error.status === 503) reply.header('retry-after', 1);
  reply.code(error.status);
  // Clients of tus read `message`.
  const more = reply.hasHeader('tus-resumable') ? { message: error.message } : {};
  return { result: 'error', msg: error.message, code: error.code, ...more, ...error.extra };
}

/**
 * Whether a request may come from a browser. Browsers must not get the challenge `Basic`: they would ask the user for a name
 * and a password, and send these with every later request, also with requests of pages of other sites.
 */
const isOfBrowser = ({ url, headers }: FastifyRequest): boolean =>
  /^\/+json\/+/.test(url) ||
  headers['sec-fetch-site'] !== undefined ||
  headers.origin !== undefined ||
  headers.accept?.includes('text/html') === true;

/** The client closed the connection inside its body, or before a streamed response began. */
function hasClientLeft(error: unknown, request: IncomingMessage): boolean {
  if (error === request.errored) return true;
  const isClosedEarly = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
  return isClosedEarly && request.socket.destroyed;
}

/** Maps errors of the framework to errors of the API. Unknown errors are logged and answered as INTERNAL_ERROR. */
export function createErrorMapper(options: {
  log: Logger;
  router: Router;
  maxUploadBytes: number;
}): (error: unknown, request: FastifyRequest) => ChatError {
  const { log, router, maxUploadBytes } = options;

  const operationOf = (request: FastifyRequest): Operation | undefined =>
    router.find(request.url.split('?', 1)[0] ?? '')?.operation(request.method)?.operation;

  function tooLargeFor(operation: Operation | undefined): ChatError {
    const largest = operation && maxFileBytes(operation, maxUploadBytes);
    if (!operation || largest === undefined) return new ChatError('REQUEST_TOO_LARGE', 'The request is too large');
    return streamsBody(operation) ? new ChatError('REQUEST_TOO_LARGE', tooLarge(largest).message) : tooLarge(largest);
  }

  return (error, request) => {
    if (error instanceof ChatError) return error;
    // No one reads the response, and the server is not at fault.
    if (hasClientLeft(error, request.raw)) return new ChatError('BAD_REQUEST', 'The request ended early');
    const code = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (code === 413) return tooLargeFor(operationOf(request));
    if (code >= 400 && code < 500)
      return new ChatError('BAD_REQUEST', error instanceof Error ? error.message : 'Bad request');
    // The path is not logged: it may contain the key of a mailed link.
    const operation = request.operationName ?? request.admitted?.operation?.name;
    log.error({ err: error, requestId: request.id, operation }, 'request failed');
    return new ChatError('INTERNAL_ERROR', 'Internal server error');
  };
}
