import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { ChatError } from '@natter/contracts';
import type { Logger } from '@natter/service-kit';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { AnswerBudget } from '../http/answer-budget.ts';
import { type AnswerMemory, createAnswerMemory } from '../http/answer-memory.ts';
import type { BodyTurns } from '../http/body-turns.ts';
import type { GatewayConfig } from '../http/config.ts';
import { guardConnections } from '../http/connections.ts';
import type { GatewayMetrics } from '../http/gateway-metrics.ts';
import { uncached } from '../http/headers.ts';
import { checkHost, checkPath, decodablePath } from '../http/host.ts';
import { networkOf, trustedProxies } from '../http/network.ts';
import { originHeaders } from '../http/other-origins.ts';
import { createPort } from '../http/port.ts';
import { acceptForms } from '../http/request-fields.ts';
import type { Refusals } from '../rate-limit/refusals.ts';
import type { SlowRefusals } from '../rate-limit/slow-refusals.ts';
import { type RefuseEarlyContext, refuseEarly } from './refuse-early.ts';
import { errorBody, sendError } from './send-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation that the request was routed to. */
    operationName: string | undefined;
    /** Whether a rate limit counted the request. */
    isCounted: boolean;
  }
}

/** Limit per request, including its target. */
const maxHeaderBytes = 16_384;
/** How long a stopping gateway waits for its requests. Then it closes their connections. */
const closeMs = 8_000;

export interface HttpServer {
  app: FastifyInstance;
  answers: AnswerMemory;
  listen(): Promise<void>;
  /** Asks clients to connect elsewhere; requests are still served. */
  leave(): void;
  /** Resolves when every connection has ended. */
  stop(): Promise<void>;
}

/** Accepts connections and requests; the caller adds the routes. */
export function createHttpServer(options: {
  config: GatewayConfig;
  log: Logger;
  metrics: GatewayMetrics;
  answerBudget: AnswerBudget;
  refusals: Refusals;
  early: RefuseEarlyContext;
  slowRefusals: SlowRefusals;
  bodyTurns: BodyTurns;
  toChatError: (error: unknown, request: FastifyRequest) => ChatError;
}): HttpServer {
  const { config, log, metrics, answerBudget, refusals, early, slowRefusals, bodyTurns, toChatError } = options;
  const answerError = (
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply | Promise<FastifyReply> => {
    const refusal = toChatError(error, request);
    early.earlyRefusals.arrived(request.raw);
    const isUncounted = !request.isCounted && refusal.status < 500;
    const tooMany = isUncounted ? refusals.count(networkOf(request.ip)) : undefined;
    // The client needs another connection for its next request.
    if (tooMany) reply.header('connection', 'close');
    const delay = slowRefusals.delayOf(refusal);
    return delay ? sendLater(delay, reply, refusal) : sendError(reply, tooMany ?? refusal);
  };
  const proxies = trustedProxies(config.NATTER_TRUSTED_PROXIES);
  let isLeaving = false;
  const app = fastify({
    trustProxy: proxies.has,
    serverFactory: (handle) =>
      createServer(
        {
          ...timeoutsOf(config),
          maxHeaderSize: maxHeaderBytes,
          // Node would respond without the JSON envelope; `checkHost` requires the header.
          requireHostHeader: false,
        },
        (request, response) => {
          if (isLeaving || !refuseEarly(early, connections, request, response)) handle(request, response);
        },
      ),
    clientErrorHandler: (error, socket) => connections.onClientError(error, socket),
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    rewriteUrl: ({ url = '' }) => decodablePath(url),
    // No hooks run for these errors, so their headers are set here.
    frameworkErrors: (error, request, reply) =>
      void answerError(error, request, reply.headers(originHeaders(request.originalUrl))),
  });
  app.decorateRequest('operationName', undefined);
  app.decorateRequest('admitted', undefined);
  app.decorateRequest('isCounted', false);
  const connections = guardConnections(app.server, config, proxies, metrics.cut);
  const answers = createAnswerMemory(answerBudget, () => metrics.cut('unread'), errorBody);
  acceptForms(app, bodyTurns);
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) metrics.answered(nameOf(request), 'cancelled', reply.elapsedTime);
    });
    if (!connections.begin(request.raw, reply.raw, networkOf(request.ip))) return reply.hijack();
    checkHost(request, reply);
    checkPath(request);
  });
  app.addHook('preParsing', (request, reply, _, done) => {
    connections.onBody(request.raw, reply.raw);
    done();
  });
  app.addHook('onSend', (request, reply, sent, done) => {
    const body = answers.count(request, reply, sent);
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', uncached);
    reply
      .headers(originHeaders(request.originalUrl))
      .header('x-request-id', request.id)
      .header('x-content-type-options', 'nosniff');
    if (isLeaving || connections.mustClose(request.raw)) reply.header('connection', 'close');
    done(null, body);
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (reply.raw.writableFinished) metrics.answered(nameOf(request), reply.statusCode, reply.elapsedTime);
    done();
  });
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => answerError(new ChatError('NOT_FOUND', 'Not found'), request, reply));

  const port = createPort(app.server);
  const { NATTER_HTTP_FD: fds, NATTER_HTTP_HOST: host } = config;
  return {
    app,
    answers,
    async listen() {
      await app.ready();
      const number = await port.listen(fds ? { fds } : { host, port: config.NATTER_HTTP_PORT });
      log.info({ port: number }, 'listening');
    },
    // Responses ask clients to close the connection; the next one reaches another gateway. If gateways share a socket, this
    // one stops accepting connections, and those that wait at the socket are left to the others. At its own port this
    // gateway still serves clients that use its address.
    leave() {
      if (fds) void port.close();
      setImmediate(() => {
        isLeaving = true;
      });
    },
    async stop() {
      connections.stop();
      const timer = setTimeout(() => app.server.closeAllConnections(), closeMs);
      const closed = port.close();
      setImmediate(() => app.server.closeIdleConnections());
      await closed;
      clearTimeout(timer);
      await app.close().catch(() => undefined);
    },
  };
}

/** Node.js refuses a longer time for the headers than for the whole request. */
function timeoutsOf(config: GatewayConfig) {
  const requestTimeout = config.NATTER_REQUEST_TIMEOUT_SECONDS * 1_000;
  const headersTimeout = Math.min(config.NATTER_HEADERS_TIMEOUT_SECONDS * 1_000, requestTimeout);
  return {
    keepAliveTimeout: config.NATTER_KEEP_ALIVE_SECONDS * 1_000,
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.min(5_000, headersTimeout / 2),
  };
}

/** Sends a refusal after its delay. It releases the body before it waits. */
async function sendLater(delay: Promise<boolean>, reply: FastifyReply, refusal: ChatError): Promise<FastifyReply> {
  reply.request.admitted?.releaseBody();
  const isSent = await delay;
  if (!isSent) reply.header('connection', 'close');
  return sendError(reply, refusal);
}

const nameOf = (request: FastifyRequest): string =>
  request.operationName ?? request.admitted?.operation?.name ?? 'none';
