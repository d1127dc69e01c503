import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import formbody from '@fastify/formbody';
import multipart from '@fastify/multipart';
import {
  type Actor,
  ChatError,
  eventQueueOperations,
  limits,
  type Operation,
  operations,
  type Page,
  type ParamsOf,
  type RequestMeta,
  userOperations,
} from '@natter/contracts';
import { connectRedis } from '@natter/event-log';
import { commonConfig, inSpan, type Process, type Running, spanOfDelivery, watchRedis } from '@natter/service-kit';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { z } from 'zod';
import { createAuthenticator } from './authenticator.ts';
import { docsPage } from './docs-page.ts';
import { createGatewayMetrics } from './gateway-metrics.ts';
import { openApi } from './open-api.ts';
import { parseParams } from './parse-params.ts';
import { createPolls, type Polls } from './polls.ts';
import { countRequest, type RateState } from './rate-limit.ts';

export const gatewayConfig = commonConfig.extend({
  NATTER_HTTP_HOST: z.string().default('127.0.0.1').describe('Where the API listens'),
  NATTER_HTTP_PORT: z.coerce.number().int().default(9991).describe('Port of the API'),
  NATTER_REUSE_PORT: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Several gateways of one machine share the port'),
  NATTER_TRUSTED_PROXIES: z
    .string()
    .default('')
    .describe('Proxies in front whose X-Forwarded-For, -Proto and -Host are believed: addresses or CIDRs, by commas'),
  NATTER_RATE_LIMIT: z.coerce.number().int().default(200).describe('Requests a minute and user'),
  NATTER_RATE_LIMIT_ANONYMOUS: z.coerce
    .number()
    .int()
    .default(100)
    .describe('Requests a minute and address, without authentication'),
});
type Config = z.output<typeof gatewayConfig>;

/** How long a slow request holds up a gateway that stops. */
const closeMs = 8_000;
const prefix = '/api/v1';

/** The HTTP edge. It has no code per endpoint: every route is made from the contract. */
export async function startGateway({ config, log, bus, metrics }: Process<Config>): Promise<Running> {
  const redis = connectRedis(config.NATTER_REDIS_URL, (state, error) => log.info({ state, err: error }, 'Redis'));
  watchRedis(metrics, redis);
  const gatewayMetrics = createGatewayMetrics(metrics, () => polls.held);
  const polls: Polls = createPolls({
    bus,
    log: redis,
    logger: log,
    onDelivered: gatewayMetrics.delivered,
    onEntry: (realmId, { event, at }) => {
      if (event.trace) spanOfDelivery(`deliver ${event.type}`, event.trace, at, { realm: realmId });
      authenticator.follow(realmId, event);
    },
  });
  const authenticator = createAuthenticator(bus, polls.tails);
  const realms = new Map<string, number>();

  let isLeaving = false;
  const app = fastify({
    ...(config.NATTER_TRUSTED_PROXIES ? { trustProxy: config.NATTER_TRUSTED_PROXIES } : {}),
    bodyLimit: limits.bodyBytes,
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  });
  await app.register(formbody);
  await app.register(multipart, { attachFieldsToBody: 'keyValues', limits: { fieldSize: 2 * 1024 * 1024, files: 1 } });
  app.addHook('onSend', async (request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    reply.header('x-request-id', request.id);
    if (isLeaving) reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request, reply) => {
    const { operation } = request.routeOptions.config as { operation?: string };
    gatewayMetrics.answered(operation ?? 'none', reply.statusCode, reply.elapsedTime);
  });
  app.setErrorHandler((error, request, reply) => sendError(reply, toChatError(error, request)));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const allowed = operations
      .filter((operation) => (operation.http ?? operation.page) && matches(pathOf(operation), path))
      .map((operation) => (operation.http ?? operation.page)?.method);
    if (allowed.length > 0 && request.method === 'OPTIONS')
      return reply.code(204).header('allow', allowed.join(', ')).send();
    if (allowed.length > 0)
      return reply
        .code(405)
        .header('allow', allowed.join(', '))
        .send({ result: 'error', msg: 'Method Not Allowed', allowed_methods: allowed });
    return sendError(reply, new ChatError('NOT_FOUND', 'Not found'));
  });
  const document = openApi();
  app.get('/openapi.json', async () => document);
  const docs = docsPage();
  app.get('/docs', async (_, reply) => reply.type('text/html; charset=utf-8').send(docs));
  for (const operation of operations) {
    const route = operation.http ?? operation.page;
    if (!route) continue;
    app.route({
      method: route.method,
      url: pathOf(operation).replace(/\{(\w+)\}/g, ':$1'),
      config: { operation: operation.name },
      handler: (request, reply) => {
        const parent = headerOf(request, 'traceparent');
        return inSpan(`gateway ${operation.name}`, { kind: 'server', parent }, () => serve(operation, request, reply));
      },
    });
  }

  async function serve(operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const meta = await metaOf(request);
    const isAuthenticated =
      operation.caller === 'user' || (operation.caller === 'spectator' && request.headers.authorization !== undefined);
    const actor = isAuthenticated ? await authenticator.authenticate(request.headers.authorization, meta) : undefined;
    const isPoll = operation.name === eventQueueOperations.getEvents.name;
    const who = actor ? `${isPoll ? 'poll' : 'user'}:${actor.userId}` : `ip:${request.ip}`;
    setRateHeaders(
      reply,
      await countRequest(
        redis,
        meta.realmId,
        who,
        actor ? config.NATTER_RATE_LIMIT : config.NATTER_RATE_LIMIT_ANONYMOUS,
      ),
    );
    const { params, ignored } = parseParams(operation, fieldsOf(request), request.params as Record<string, string>);
    const result =
      isPoll && actor
        ? await poll(actor, meta, params, request)
        : await bus.call(operation, params as never, { actor, meta });
    if (operation.page) return sendPage(reply, result as Page);
    return {
      result: 'success',
      msg: '',
      ...(result as object),
      ...(ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {}),
    };
  }

  function poll(actor: Actor, meta: RequestMeta, params: Record<string, unknown>, request: FastifyRequest) {
    const closed = new AbortController();
    request.raw.socket.once('close', () => closed.abort());
    return polls.poll(actor, meta, params as ParamsOf<typeof eventQueueOperations.getEvents>, closed.signal);
  }

  async function metaOf(request: FastifyRequest): Promise<RequestMeta> {
    const host = request.host;
    const base = {
      requestId: request.id,
      realmId: 0,
      client: clientOf(request),
      realmUrl: `${request.protocol}://${host}`,
      idempotencyKey: headerOf(request, 'idempotency-key'),
    };
    const known = realms.get(host);
    if (known !== undefined) return { ...base, realmId: known };
    const { realm_id } = await bus.call(userOperations.findRealm, { host }, { meta: base });
    if (realms.size < 10_000) realms.set(host, realm_id);
    return { ...base, realmId: realm_id };
  }

  function toChatError(error: unknown, request: FastifyRequest): ChatError {
    if (error instanceof ChatError) return error;
    const code = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (code === 413) return new ChatError('REQUEST_TOO_LARGE', 'The request is too large');
    if (code >= 400 && code < 500)
      return new ChatError('BAD_REQUEST', error instanceof Error ? error.message : 'Bad request');
    log.error({ err: error, requestId: request.id, url: request.url.split('?')[0] }, 'request failed');
    return new ChatError('INTERNAL_ERROR', 'Internal server error');
  }

  await app.listen({
    host: config.NATTER_HTTP_HOST,
    port: config.NATTER_HTTP_PORT,
    ...(config.NATTER_REUSE_PORT === 'true' ? { reusePort: true } : {}),
  });
  log.info({ port: (app.server.address() as AddressInfo).port }, 'listening');
  return {
    // A client that keeps its connection is told to open another one, which finds another gateway.
    leave: () => {
      isLeaving = true;
    },
    stop: async () => {
      await polls.stop();
      const timer = setTimeout(() => app.server.closeAllConnections(), closeMs);
      await app.close();
      clearTimeout(timer);
      redis.close();
    },
  };
}

function sendError(reply: FastifyReply, error: ChatError): FastifyReply {
  if (error.status === 401) reply.header('www-authenticate', 'Basic realm="zulip"');
  if (error.code === 'RATE_LIMIT_HIT') reply.header('retry-after', Math.ceil(Number(error.extra['retry-after'])));
  if (error.status === 503) reply.header('retry-after', 1);
  return reply.code(error.status).send({ result: 'error', msg: error.message, code: error.code, ...error.extra });
}

function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  if (page.location !== undefined) reply.header('location', page.location);
  if (page.cache_seconds > 0) reply.header('cache-control', `private, max-age=${page.cache_seconds}`);
  // What people uploaded must never run as a script of this origin.
  reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'");
  reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
  return reply
    .code(page.status)
    .type(page.content_type)
    .send(page.is_base64 ? Buffer.from(page.body, 'base64') : page.body);
}

function setRateHeaders(reply: FastifyReply, rate: RateState): void {
  reply
    .header('x-ratelimit-limit', rate.limit)
    .header('x-ratelimit-remaining', rate.remaining)
    .header('x-ratelimit-reset', rate.reset);
}

/** Body first, then query, for every verb. */
const fieldsOf = (request: FastifyRequest): Record<string, unknown> => ({
  ...(request.query as object),
  ...Object.fromEntries(Object.entries((request.body as object | undefined) ?? {}).map(asField)),
});

/** An uploaded file is the parameter `file`, whatever its part was called. */
const asField = ([name, value]: [string, unknown]): [string, unknown] =>
  Buffer.isBuffer(value) ? ['file', value.toString('base64')] : [name, value];

const headerOf = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

const clientOf = (request: FastifyRequest): string =>
  /^[^/\s(]+/.exec(request.headers['user-agent'] ?? '')?.[0]?.slice(0, 60) ?? 'Unspecified';

const pathOf = ({ http, page }: Operation): string => (http ? prefix + http.path : (page?.path ?? ''));

const matches = (template: string, path: string): boolean =>
  new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}/?$`).test(path);
