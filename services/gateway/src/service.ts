import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Actor,
  badRequest,
  ChatError,
  capabilityNames,
  eventQueueOperations,
  limits,
  type Operation,
  operations,
  type Page,
  type ParamsOf,
  type RequestMeta,
} from '@natter/contracts';
import { connectRedis } from '@natter/event-log';
import { commonConfig, inSpan, type Process, type Running, spanOfDelivery, watchRedis } from '@natter/service-kit';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { z } from 'zod';
import { createAdmission } from './admission.ts';
import { asyncApi } from './async-api.ts';
import { createAuthenticator } from './authenticator.ts';
import { docsPage } from './docs-page.ts';
import { streamEvents } from './event-stream.ts';
import { fileParamOf, handOver, sendFile, tooLarge } from './files.ts';
import { createGatewayMetrics } from './gateway-metrics.ts';
import { openApi } from './open-api.ts';
import { parseParams } from './parse-params.ts';
import { createPolls, type Hangup, type Polls, pollRequestOf } from './polls.ts';
import { createPort } from './port.ts';
import { countRequest, forgetRequests, type Rate, type RateState, rateLimitHit } from './rate-limit.ts';
import { createRealmFinder } from './realm-of-host.ts';
import { createRealmTails } from './realm-tails.ts';
import { acceptForms, bodyFieldsOf, fieldsOf, filesOf } from './request-fields.ts';
import { createRouter } from './router.ts';
import { sendPage, setPageHeaders } from './send-page.ts';
import { sendSuccess } from './success.ts';

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
  NATTER_RATE_LIMIT_LOGIN: z.coerce
    .number()
    .int()
    .default(5)
    .describe('Wrong passwords in half an hour and username before no more are tried'),
  NATTER_LOG_MEMORY_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .default(128)
    .describe('Recent events (as JSON) that a gateway keeps in memory; older ones are read from Redis'),
});
type Config = z.output<typeof gatewayConfig>;

/** How long a slow request holds up a gateway that stops. */
const closeMs = 8_000;
/** What a form with a file may have beside the largest file; over it the file itself is not read. */
const formBytes = 8 * 1024 * 1024;
type PollParams = ParamsOf<typeof eventQueueOperations.getEvents>;

/** The HTTP edge. It has no code per endpoint: every route is made from the contract. */
export async function startGateway({ config, log, bus, metrics }: Process<Config>): Promise<Running> {
  const redis = connectRedis(config.NATTER_REDIS_URL, (state, error) => log.info({ state, err: error }, 'Redis'));
  watchRedis(metrics, redis);
  const gatewayMetrics = createGatewayMetrics(metrics, { heldPolls: () => polls.held, logBytes: () => tails.bytes });
  const tails = createRealmTails({
    bus,
    log: redis,
    logger: log,
    maxBytes: config.NATTER_LOG_MEMORY_MIB * 1024 * 1024,
    onEntry: (realmId, entry) => {
      const { event, at } = entry;
      if (event.trace) spanOfDelivery(`deliver ${event.type}`, event.trace, at, { realm: realmId });
      authenticator.follow(realmId, event);
      polls.follow(realmId, entry);
    },
  });
  const polls: Polls = createPolls({ bus, log: redis, tails, onDelivered: gatewayMetrics.delivered });
  const authenticator = createAuthenticator(bus, tails.isCurrent);
  const findRealm = createRealmFinder(bus);
  const router = createRouter(operations);
  const rates = {
    user: { limit: config.NATTER_RATE_LIMIT, windowSeconds: 60 },
    anonymous: { limit: config.NATTER_RATE_LIMIT_ANONYMOUS, windowSeconds: 60 },
    login: { limit: config.NATTER_RATE_LIMIT_LOGIN, windowSeconds: 1_800 },
  };

  const maxUploadBytes = config.NATTER_MAX_UPLOAD_MIB * 1024 * 1024;
  const maxBodyBytes = Math.max(limits.bodyBytes, maxUploadBytes + formBytes);
  let isLeaving = false;
  const app = fastify({
    ...(config.NATTER_TRUSTED_PROXIES ? { trustProxy: config.NATTER_TRUSTED_PROXIES } : {}),
    bodyLimit: maxBodyBytes,
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => void sendError(reply, toChatError(error, request)),
  });
  acceptForms(app, maxBodyBytes);
  const admission = createAdmission(router, async (request, reply) =>
    actorOfKey({ request, reply }, await metaOf(request)),
  );
  app.addHook('preParsing', async (request, reply, payload) => admission.admit(request, reply, payload));
  const served = new WeakMap<FastifyRequest, string>();
  app.addHook('onSend', async (request, reply) => {
    if (!reply.hasHeader('cache-control'))
      reply.header('cache-control', 'no-cache, no-store, must-revalidate, private');
    reply.header('x-request-id', request.id);
    if (isLeaving) reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request, reply) => {
    gatewayMetrics.answered(served.get(request) ?? 'none', reply.statusCode, reply.elapsedTime);
  });
  app.setErrorHandler((error, request, reply) => sendError(reply, toChatError(error, request)));
  app.setNotFoundHandler((_, reply) => sendError(reply, new ChatError('NOT_FOUND', 'Not found')));
  const document = openApi();
  app.get('/openapi.json', async () => document);
  const events = asyncApi();
  app.get('/asyncapi.json', async () => events);
  const docs = docsPage();
  app.get('/docs', async (_, reply) => reply.type('text/html; charset=utf-8').send(docs));
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'],
    url: '/*',
    handler: (request, reply) => route(request, reply),
  });

  async function route(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const place = router.find(request.url.split('?')[0] ?? '');
    if (!place) throw new ChatError('NOT_FOUND', 'Not found');
    const isCrossOrigin = place.methods.some((method) => place.operation(method)?.operation.isCrossOrigin);
    if (isCrossOrigin) reply.header('access-control-allow-origin', '*');
    if (request.method === 'OPTIONS') {
      if (isCrossOrigin)
        reply
          .header('access-control-allow-methods', place.methods.join(', '))
          .header('access-control-allow-headers', 'authorization, content-type')
          .header('access-control-max-age', 86_400);
      return reply.code(204).header('allow', place.methods.join(', ')).send();
    }
    const fields = fieldsOf(request);
    // A form may name another verb than its request.
    const override = request.method === 'POST' ? bodyFieldsOf(request).method?.toUpperCase() : undefined;
    const found = place.operation(override ?? (request.method === 'HEAD' ? 'GET' : request.method));
    if (!found)
      return reply
        .code(405)
        .header('allow', place.methods.join(', '))
        .send({ result: 'error', msg: 'Method Not Allowed', allowed_methods: place.methods });
    const { operation, path } = found;
    if (override !== undefined && operation.params.method === undefined) delete fields.method;
    served.set(request, operation.name);
    const parent = headerOf(request, 'traceparent');
    return inSpan(`gateway ${operation.name}`, { kind: 'server', parent }, () =>
      serve(operation, { request, reply, fields, path }),
    );
  }

  interface Asked {
    request: FastifyRequest;
    reply: FastifyReply;
    fields: Record<string, string>;
    path: Record<string, string>;
  }

  async function serve(operation: Operation, asked: Asked): Promise<unknown> {
    const { request, reply, fields, path } = asked;
    const meta = await metaOf(request);
    // What clients of old say instead of a header.
    if (fields.client !== undefined && operation.params.client === undefined) {
      meta.client = nameOf(fields.client);
      delete fields.client;
    }
    const isPoll = operation.name === eventQueueOperations.getEvents.name;
    const actor = await actorOf(operation, asked, meta, isPoll);
    const who = actor ? `${isPoll ? 'poll' : 'user'}:${actor.userId}` : `ip:${request.ip}`;
    await count(reply, meta, who, actor ? rates.user : rates.anonymous);
    if (actor?.isWriteOnly && !operation.isForWriteOnly)
      throw badRequest('This API is not available to incoming webhook bots.');
    // Small files travel with the other parameters.
    const small = operation.params.file?.encoding === 'text' ? filesOf(request).at(-1) : undefined;
    if (small) fields.file = small.bytes.toString('base64');
    const { params, ignored } = parseParams(operation, fields, path);
    const fileParam = fileParamOf(operation);
    if (fileParam) params[fileParam] = await handOver(bus, operation, filesOf(request), meta, maxUploadBytes);
    if (isPoll && actor) return poll(actor, meta, params as PollParams, ignored, asked);
    const guessed = operation.guessedFor && `login:${String(params[operation.guessedFor]).toLowerCase().slice(0, 200)}`;
    if (guessed) await count(reply, meta, guessed, rates.login);
    const bytes = await bus.callBytes(operation, params as never, { actor, meta });
    if (guessed) await forgetRequests(redis, meta.realmId, guessed, rates.login);
    if (operation.page) {
      const page = JSON.parse(Buffer.concat(bytes).toString()) as Page;
      if (!page.file) return sendPage(reply, page);
      setPageHeaders(reply, page);
      const [range, isHead] = [headerOf(request, 'range'), request.method === 'HEAD'];
      return sendFile(bus, operation, page.file, meta, { reply, range, isHead });
    }
    return sendSuccess(reply, bytes, ignored);
  }

  /** Who asks. A wrong key counts against the address it came from. */
  async function actorOf(
    operation: Operation,
    { request, reply, fields }: Asked,
    meta: RequestMeta,
    isPoll: boolean,
  ): Promise<Actor | undefined> {
    const header = request.headers.authorization;
    const isAuthenticated = operation.caller === 'user' || (operation.caller === 'spectator' && header !== undefined);
    // A file that a page shows is asked for without a header.
    const keyAlone = operation.page && operation.caller === 'spectator' && !header ? fields.api_key : undefined;
    if (!isAuthenticated && keyAlone === undefined) return undefined;
    return admission.known(request) ?? actorOfKey({ request, reply }, meta, keyAlone, isPoll);
  }

  async function actorOfKey(
    { request, reply }: Pick<Asked, 'request' | 'reply'>,
    meta: RequestMeta,
    keyAlone?: string,
    isPoll = false,
  ): Promise<Actor> {
    try {
      if (keyAlone !== undefined) return await authenticator.authenticateKey(keyAlone, meta);
      return await authenticator.authenticate(request.headers.authorization, meta, isPoll);
    } catch (error) {
      // Who shows no key guesses none.
      if (error instanceof ChatError && error.status === 401)
        await count(reply, meta, `ip:${request.ip}`, rates.anonymous, error.code === 'UNAUTHORIZED' ? 0 : 1);
      throw error;
    }
  }

  async function count(reply: FastifyReply, meta: RequestMeta, who: string, rate: Rate, by: 0 | 1 = 1): Promise<void> {
    const state = await countRequest(redis, meta.realmId, who, rate, by);
    setRateHeaders(reply, state);
    if (state.isOver) throw rateLimitHit(state);
  }

  async function poll(
    actor: Actor,
    meta: RequestMeta,
    params: PollParams,
    ignored: string[],
    { request, reply }: Asked,
  ): Promise<unknown> {
    const isStream = request.headers.accept?.includes('text/event-stream') ?? false;
    const { queue_id, dont_block } = params;
    if (queue_id === undefined && dont_block) return openQueue(actor, meta, params, ignored);
    const resumed = headerOf(request, 'last-event-id');
    const from =
      isStream && resumed !== undefined && /^-?\d{1,15}$/.test(resumed) ? Number(resumed) : params.last_event_id;
    const asked = pollRequestOf(queue_id, from);
    const hangup = hangupOf(reply.raw);
    if (isStream) {
      await streamEvents(reply, asked.queueId, asked.lastEventId, hangup, async (lastEventId, dontBlock = false) => {
        const known = await authenticator.authenticate(request.headers.authorization, meta, true);
        return polls.poll(known, meta, { ...asked, lastEventId, dontBlock }, hangup);
      });
      return reply;
    }
    const { events } = await polls.poll(actor, meta, { ...asked, dontBlock: dont_block }, hangup);
    const rest = ignored.length > 0 ? `,"ignored_parameters_unsupported":${JSON.stringify(ignored)}` : '';
    // Events come as text that queues share.
    const body = `{"result":"success","msg":"","events":[${events.join(',')}],"queue_id":${JSON.stringify(queue_id)}${rest}}`;
    return reply.type('application/json; charset=utf-8').send(body);
  }

  /** A poll that may not wait and names no queue gets a new one. */
  async function openQueue(
    actor: Actor,
    meta: RequestMeta,
    params: PollParams,
    ignored: readonly string[],
  ): Promise<unknown> {
    const named = capabilityNames.flatMap((name) =>
      params[name] === undefined ? [] : [[name, params[name]] as const],
    );
    const { queue_id: _, last_event_id: __, dont_block, ...given } = params;
    const made = await bus.call(
      eventQueueOperations.register,
      {
        ...given,
        include_subscribers: 'false',
        presence_history_limit_days: undefined,
        client_capabilities: Object.fromEntries(named),
        fetch_event_types: [],
        pronouns_field_type_supported: undefined,
        user_client: undefined,
      },
      { actor, meta },
    );
    const { queue_id, last_event_id } = made;
    const rest = ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
    return { result: 'success', msg: '', events: [], queue_id, last_event_id, ...rest };
  }

  async function metaOf(request: FastifyRequest): Promise<RequestMeta> {
    const host = request.host.toLowerCase();
    const meta: RequestMeta = {
      requestId: request.id,
      realmId: 0,
      client: clientOf(request),
      realmUrl: `${request.protocol}://${host}`,
      idempotencyKey: headerOf(request, 'idempotency-key'),
    };
    return { ...meta, realmId: await findRealm(host, meta) };
  }

  function takesFile(request: FastifyRequest): boolean {
    const found = router.find(request.url.split('?')[0] ?? '')?.operation(request.method);
    return found !== undefined && fileParamOf(found.operation) !== undefined;
  }

  function toChatError(error: unknown, request: FastifyRequest): ChatError {
    if (error instanceof ChatError) return error;
    const code = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (code === 413 && takesFile(request)) return tooLarge(maxUploadBytes);
    if (code === 413) return new ChatError('REQUEST_TOO_LARGE', 'The request is too large');
    if (code >= 400 && code < 500)
      return new ChatError('BAD_REQUEST', error instanceof Error ? error.message : 'Bad request');
    log.error({ err: error, requestId: request.id, url: request.url.split('?')[0] }, 'request failed');
    return new ChatError('INTERNAL_ERROR', 'Internal server error');
  }

  const isPortShared = config.NATTER_REUSE_PORT === 'true';
  await app.listen({
    host: config.NATTER_HTTP_HOST,
    port: config.NATTER_HTTP_PORT,
    ...(isPortShared ? { reusePort: true } : {}),
  });
  log.info({ port: (app.server.address() as AddressInfo).port }, 'listening');
  const port = createPort(app.server);
  return {
    // A client that keeps its connection is told to open another one, which finds another gateway. Where the port is shared it
    // closes before anybody is told, while hardly anybody connects; elsewhere whoever still knows this place is served.
    leave: () => {
      if (isPortShared) void port.close();
      setImmediate(() => {
        isLeaving = true;
      });
    },
    stop: async () => {
      await polls.stop();
      const timer = setTimeout(() => app.server.closeAllConnections(), closeMs);
      const closed = port.close();
      setImmediate(() => app.server.closeIdleConnections());
      await closed;
      clearTimeout(timer);
      // Fastify closes once more what is closed.
      await app.close().catch(() => undefined);
      await tails.stop();
      redis.close();
    },
  };
}

function sendError(reply: FastifyReply, error: ChatError): FastifyReply {
  if (error.status === 401) reply.header('www-authenticate', 'Basic realm="zulip"');
  if (error.code === 'RATE_LIMIT_HIT') reply.header('retry-after', Math.ceil(Number(error.extra['retry-after'] ?? 1)));
  if (error.status === 503) reply.header('retry-after', 1);
  return reply.code(error.status).send({ result: 'error', msg: error.message, code: error.code, ...error.extra });
}

function setRateHeaders(reply: FastifyReply, rate: RateState): void {
  reply
    .header('x-ratelimit-limit', rate.limit)
    .header('x-ratelimit-remaining', rate.remaining)
    .header('x-ratelimit-reset', rate.reset);
}

const hangupOf = (response: ServerResponse): Hangup => ({
  get isOver() {
    return response.closed || response.destroyed;
  },
  onOver: (listener) => {
    response.once('close', listener);
    return () => response.off('close', listener);
  },
});

const headerOf = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** Of `Name/1.2 (…)` the name, which may hold spaces. */
const clientOf = (request: FastifyRequest): string =>
  nameOf(/^[^/(]+/.exec(request.headers['user-agent'] ?? '')?.[0] ?? '');
const nameOf = (client: string): string => client.trim().slice(0, 60) || 'Unspecified';
