import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { ChatError } from '@natter/contracts';
import type { Logger } from '@natter/service-kit';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { GatewayConfig } from './config.ts';
import { guardConnections } from './connections.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { checkHost } from './host.ts';
import { trustedProxies } from './network.ts';
import { createPort } from './port.ts';
import { acceptForms } from './request-fields.ts';
import { sendError } from './send-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation that the request was routed to. */
    operationName: string | undefined;
  }
}

/** Of one request, with its target. */
const maxHeaderBytes = 16_384;
/** How long a slow request holds up a gateway that stops. */
const closeMs = 8_000;

export interface HttpServer {
  app: FastifyInstance;
  listen(): Promise<void>;
  /** Asks clients to connect elsewhere; requests are still served. */
  leave(): void;
  /** Done when every connection has ended. */
  stop(): Promise<void>;
}

/** Accepts connections and requests; the routes are the caller's. */
export function createHttpServer(options: {
  config: GatewayConfig;
  log: Logger;
  metrics: GatewayMetrics;
  toChatError: (error: unknown, request: FastifyRequest) => ChatError;
}): HttpServer {
  const { config, log, metrics, toChatError } = options;
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    sendError(reply, toChatError(error, request));
  const proxies = trustedProxies(config.NATTER_TRUSTED_PROXIES);
  let isLeaving = false;
  const app = fastify({
    trustProxy: proxies.has,
    keepAliveTimeout: config.NATTER_KEEP_ALIVE_SECONDS * 1_000,
    requestTimeout: config.NATTER_REQUEST_TIMEOUT_SECONDS * 1_000,
    http: {
      headersTimeout: config.NATTER_HEADERS_TIMEOUT_SECONDS * 1_000,
      connectionsCheckingInterval: Math.min(5_000, config.NATTER_HEADERS_TIMEOUT_SECONDS * 500),
      maxHeaderSize: maxHeaderBytes,
      // Node would answer without an envelope; `checkHost` requires the header.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => connections.onClientError(error, socket),
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
  });
  app.decorateRequest('operationName', undefined);
  app.decorateRequest('admitted', undefined);
  const connections = guardConnections(app.server, config, proxies, metrics.cut);
  acceptForms(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) metrics.answered(nameOf(request), 'cancelled', reply.elapsedTime);
    });
    if (!connections.begin(request.raw, reply.raw)) return reply.hijack();
    checkHost(request);
  });
  app.addHook('preParsing', async (request, reply) => connections.onBody(request.raw, reply.raw));
  app.addHook('onSend', async (request, reply) => {
    if (!reply.hasHeader('cache-control'))
      reply.header('cache-control', 'no-cache, no-store, must-revalidate, private');
    reply.header('x-request-id', request.id);
    if (isLeaving) reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request, reply) => {
    if (reply.raw.writableFinished) metrics.answered(nameOf(request), reply.statusCode, reply.elapsedTime);
  });
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((_, reply) => sendError(reply, new ChatError('NOT_FOUND', 'Not found')));

  const port = createPort(app.server);
  const isPortShared = config.NATTER_REUSE_PORT === 'true';
  return {
    app,
    async listen() {
      await app.listen({
        host: config.NATTER_HTTP_HOST,
        port: config.NATTER_HTTP_PORT,
        ...(isPortShared ? { reusePort: true } : {}),
      });
      log.info({ port: (app.server.address() as AddressInfo).port }, 'listening');
    },
    // Answers ask clients to open another connection, which reaches another gateway. A shared port closes before that, while
    // few clients connect; at a port of its own this gateway serves clients that still know its address.
    leave() {
      if (isPortShared) void port.close();
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
      // Fastify closes the server once more, which fails.
      await app.close().catch(() => undefined);
    },
  };
}

const nameOf = (request: FastifyRequest): string =>
  request.operationName ?? request.admitted?.operation?.name ?? 'none';
