import { headers, type Msg, type NatsConnection, RequestError } from '@nats-io/nats-core';
import { type Service, Svcm } from '@nats-io/services';
import { connect } from '@nats-io/transport-node';
import {
  type Actor,
  ChatError,
  catchUpOperations,
  type ErrorCode,
  errorStatus,
  limits,
  type Operation,
  type ParamsOf,
  type RequestMeta,
  type ResultOf,
  type ServiceName,
  unavailable,
  userOperations,
} from '@natter/contracts';
import { createBlocks } from './blocks.ts';
import type { CatchUp } from './catch-up.ts';
import { createFailureLog } from './failure-log.ts';
import { JsonPieces, type Piece } from './json-pieces.ts';
import type { Logger } from './logging.ts';
import type { Metrics } from './metrics.ts';
import { activeTrace, inSpan } from './tracing.ts';

export interface Context {
  /** Absent only for operations that anyone may call. */
  actor: Actor | undefined;
  meta: RequestMeta;
  log: Logger;
  /** 0 at first; higher when the unit ran again because what it rested on had changed: caches must be refreshed. */
  attempt: number;
}

/** A context whose caller is known. */
export type UserContext = Context & { actor: Actor };

// biome-ignore lint/suspicious/noExplicitAny: handlers of different operations share a table; `handle` checks each pair.
export type Handlers = { operation: Operation; run: (context: any, params: any) => Promise<unknown> }[];

/** Pairs an operation with its handler; the types of both must agree. */
export function handle<O extends Operation<never, never> | Operation>(
  operation: O,
  run: (context: UserContext, params: ParamsOf<O>) => Promise<ResultOf<O> | JsonPieces>,
): Handlers[number] {
  return { operation: operation as unknown as Operation, run: run as Handlers[number]['run'] };
}

/** As `handle`, for operations that spectators may call: the actor may be absent. */
export function handleOpen<O extends Operation<never, never> | Operation>(
  operation: O,
  run: (context: Context, params: ParamsOf<O>) => Promise<ResultOf<O> | JsonPieces>,
): Handlers[number] {
  return { operation: operation as unknown as Operation, run: run as Handlers[number]['run'] };
}

export interface CallOptions {
  actor?: Actor | undefined;
  meta: RequestMeta;
  timeoutMs?: number;
}

export interface Bus {
  /**
   * Asks the owner of an operation. Rejects with the owner's `ChatError`, or SERVICE_UNAVAILABLE: at once when nobody
   * serves it, after the deadline when the outcome is unknown. Read-only operations are tried once more.
   */
  call<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<ResultOf<O>>;
  /** As `call`; the result as it came, as JSON. */
  callBytes<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<Uint8Array[]>;
  /** As `call`; the result as it came, to be passed on: blocks in it are not fetched. */
  callPieces<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<Piece[]>;
  serve(name: ServiceName, version: string, handlers: Handlers): Promise<void>;
  /** How this process brings its copies of others' data up to date before it answers. */
  useCatchUp(catchUp: CatchUp): void;
  publish(subject: string, payload: string | Uint8Array): void;
  subscribe(subject: string, receive: (payload: Uint8Array, subject: string) => void): () => void;
  /** Resolves when subscriptions made so far have reached the server. */
  flush(): Promise<void>;
  /** Called after every reconnect. */
  onReconnect(listener: () => void): void;
  /** Takes no more requests; resolves when those that were taken are answered. Calls to others still work. */
  retire(): Promise<void>;
  drain(): Promise<void>;
}

interface Envelope {
  actor: Actor | undefined;
  meta: RequestMeta;
  params: unknown;
}

const errorHeader = 'Natter-Error';
const deadlineHeader = 'Natter-Deadline-Ms';
const traceHeader = 'traceparent';
/** What the caller can read beside plain bytes. */
const knownHeader = 'Natter-Knows';
const maxBasisAttempts = 6;
/** More than a process can answer before their callers give up. */
const maxInFlight = 20_000;
/** How long requests in flight hold up a process that stops. */
const retireMs = 10_000;

export async function connectBus(options: { url: string; name: string; log: Logger; metrics: Metrics }): Promise<Bus> {
  const { log, metrics } = options;
  const url = new URL(options.url);
  const connection = await connect({
    servers: `${url.hostname}:${url.port || 4222}`,
    ...(url.username ? { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } : {}),
    name: options.name,
    inboxPrefix: `_INBOX.${options.name}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 200,
    pingInterval: 5_000,
    maxPingOut: 2,
    waitOnFirstConnect: true,
    noAsyncTraces: true,
    ignoreClusterUpdates: true,
  });
  const reconnectListeners: (() => void)[] = [];
  metrics.natsUp.set(1);
  void watchStatus(connection, log, metrics, reconnectListeners);
  const services: Service[] = [];
  let inFlight = 0;
  const toChatError = createFailureLog();
  let whenIdle: () => void = () => undefined;
  let catchUp: CatchUp = async () => ({ isStale: false, realmVersion: undefined });
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const blocks = createBlocks(connection, options.name);

  const bus: Bus = {
    async call(operation, params, options) {
      return parsed(await bus.callBytes(operation, params, options)) as never;
    },

    async callBytes(operation, params, options) {
      const end = Date.now() + (options.timeoutMs ?? operation.deadlineMs);
      const pieces = await bus.callPieces(operation, params, options);
      try {
        return await blocks.fetch(pieces, end);
      } catch (error) {
        // Who offered the blocks is gone since; another answers as well.
        if (!operation.isReadOnly) throw error;
        const timeoutMs = Math.max(end - Date.now(), 1);
        return blocks.fetch(await bus.callPieces(operation, params, { ...options, timeoutMs }), end);
      }
    },

    callPieces(operation, params, options) {
      return inSpan(`call ${operation.service}.${operation.name}`, { kind: 'client' }, () =>
        request(operation, params, options),
      );
    },

    async serve(name, version, handlers) {
      const service = await new Svcm(connection).add({
        name: `natter-${name}`,
        version,
        description: `Natter ${name} service`,
        queue: name,
      });
      services.push(service);
      const own = catchUpOperations.find((operation) => operation.service === name);
      const all = own ? [...handlers, { operation: own, run: catchUpFor }] : handlers;
      for (const { operation, run } of all) {
        service.addEndpoint(operation.name, {
          subject: subjectOf(operation, '*'),
          handler: (error, message) => {
            if (error) return log.warn({ err: error }, 'endpoint error');
            if (inFlight >= maxInFlight) {
              refuse(
                message,
                toChatError(unavailable(new Error('too many requests in flight')), operation, () => log),
              );
              return;
            }
            inFlight++;
            const parent = message.headers?.get(traceHeader) || undefined;
            void inSpan(`${operation.service}.${operation.name}`, { kind: 'server', parent }, () =>
              answer(message, operation, run),
            ).finally(settle);
          },
        });
      }
      await connection.flush();
    },

    useCatchUp: (use) => {
      catchUp = use;
    },

    publish: (subject, payload) => {
      try {
        connection.publish(subject, payload);
      } catch (error) {
        // Only a hint is lost: readers fall back to reading the log.
        log.debug({ err: error, subject }, 'publish failed');
      }
    },

    subscribe: (subject, receive) => {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (!error) receive(message.data, message.subject);
        },
      });
      return () => subscription.unsubscribe();
    },

    flush: () => connection.flush(),
    onReconnect: (listener) => void reconnectListeners.push(listener),
    retire: async () => {
      await Promise.all(services.splice(0).map((service) => service.stop().catch(() => undefined)));
      if (inFlight > 0)
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
          setTimeout(resolve, retireMs).unref();
        });
      await blocks.settled();
    },
    drain: async () => {
      await bus.retire();
      await connection.drain().catch(() => undefined);
    },
  };
  return bus;

  function parsed(bytes: readonly Uint8Array[]): unknown {
    return JSON.parse(decoder.decode(bytes.length === 1 ? bytes[0] : Buffer.concat(bytes)));
  }

  function settle(): void {
    inFlight--;
    if (inFlight === 0) whenIdle();
  }

  async function request<O extends Operation>(
    operation: O,
    params: ParamsOf<O>,
    { actor, meta, timeoutMs = operation.deadlineMs }: CallOptions,
  ): Promise<Piece[]> {
    const payload = encoder.encode(JSON.stringify({ actor, meta, params } satisfies Envelope));
    if (payload.length > 2 * limits.bodyBytes) throw new ChatError('REQUEST_TOO_LARGE', 'The request is too large');
    const end = Date.now() + timeoutMs;
    for (let attempt = 0; ; attempt++) {
      const remaining = end - Date.now();
      const h = headers();
      const offered = blocks.offerBytes(payload, h);
      try {
        h.set(deadlineHeader, String(remaining));
        h.set(knownHeader, 'pieces');
        const traceparent = activeTrace();
        if (traceparent) h.set(traceHeader, traceparent);
        const reply = await connection.request(subjectOf(operation, options.name), offered.payload, {
          timeout: Math.max(remaining, 1),
          headers: h,
        });
        return await readReply(reply, end);
      } catch (error) {
        if (error instanceof ChatError) throw error;
        const isUnserved = error instanceof RequestError && error.isNoResponders();
        const mayRetry = isUnserved || operation.isReadOnly;
        if (!mayRetry || attempt >= 20 || Date.now() + 100 >= end) throw unavailable(error);
        await new Promise((resolve) => setTimeout(resolve, 30 + Math.random() * 70));
      } finally {
        offered.end();
      }
    }
  }

  async function answer(message: Msg, operation: Operation, run: Handlers[number]['run']): Promise<void> {
    const stop = metrics.requestSeconds.startTimer({ operation: operation.name });
    // Made only where something is said: most requests say nothing.
    let requestLog = (): Logger => log;
    try {
      const deadline = Date.now() + Number(message.headers?.get(deadlineHeader) || 15_000);
      const envelope = parsed(await blocks.fetch(await blocks.read(message, deadline), deadline)) as Envelope;
      // Only the gateway knows who is asking; NATS lets nobody ask in its name.
      const caller = message.subject.split('.').at(-1);
      if (envelope.actor && operation.caller !== 'anyone' && caller !== 'gateway')
        throw new Error(`${caller} asked for ${operation.name} in the name of a user`);
      if (operation.caller === 'operator' && caller !== 'operator')
        throw new Error(`${caller} asked for ${operation.name}, which is the operator's`);
      requestLog = () =>
        log.child({
          requestId: envelope.meta.requestId,
          realm: envelope.meta.realmId,
          user: envelope.actor?.userId,
          operation: operation.name,
        });
      const result = await runOnBasis(envelope, operation, run, requestLog);
      await respond(
        message,
        result instanceof JsonPieces ? result.pieces : [encoder.encode(JSON.stringify(result ?? {}))],
        deadline,
      );
      stop({ outcome: 'success' });
    } catch (error) {
      const chatError = toChatError(error, operation, requestLog);
      refuse(message, chatError);
      stop({ outcome: chatError.code });
    }
  }

  /** Runs the handler; when what it decided on has changed meanwhile, with a fresh actor again. */
  async function runOnBasis(
    envelope: Envelope,
    operation: Operation,
    run: Handlers[number]['run'],
    requestLog: () => Logger,
  ): Promise<unknown> {
    let { actor } = envelope;
    const isAsked = operation.http !== undefined || operation.page !== undefined;
    // A read commits nothing that would compare what its actor rests on; so it is compared here.
    if (isAsked && operation.copies === 'current') {
      const { isStale, realmVersion } = await catchUp(envelope.meta.realmId, actor?.basis);
      envelope.meta.realmVersion = realmVersion;
      if (isStale) actor = await refreshed(actor, envelope.meta);
    }
    for (let attempt = 0; ; attempt++) {
      try {
        const context: Context = {
          actor,
          meta: envelope.meta,
          get log() {
            return requestLog();
          },
          attempt,
        };
        return await run(context, envelope.params);
      } catch (error) {
        if (isAsked && attempt === 0 && operation.copies === 'current-on-refusal' && isRefusal(error)) {
          await catchUp(envelope.meta.realmId);
          continue;
        }
        if (!(error instanceof Error) || error.name !== 'BasisChanged') throw error;
        if (attempt + 1 >= maxBasisAttempts) throw unavailable(error);
        requestLog().debug({ err: error, operation: operation.name }, 'basis changed, deciding anew');
        // What it rested on may be a copy that is behind.
        await catchUp(envelope.meta.realmId);
        actor = await refreshed(actor, envelope.meta);
      }
    }
  }

  async function refreshed(actor: Actor | undefined, meta: RequestMeta): Promise<Actor | undefined> {
    if (!actor) return undefined;
    return bus.call(userOperations.refreshActor, { user_id: actor.userId, key_id: actor.keyId }, { meta });
  }

  async function catchUpFor({ meta }: Context): Promise<object> {
    await catchUp(meta.realmId);
    return {};
  }

  async function respond(message: Msg, pieces: readonly Piece[], end: number): Promise<void> {
    const h = headers();
    if (message.headers?.get(knownHeader) === 'pieces') {
      message.respond(blocks.offer(pieces, h), { headers: h });
      return;
    }
    const bytes = Buffer.concat(await blocks.fetch(pieces, end));
    message.respond(blocks.offerBytes(bytes, h).payload, { headers: h });
  }

  function refuse(message: Msg, { code, message: text, extra, status }: ChatError): void {
    const h = headers();
    h.set(errorHeader, code);
    message.respond(JSON.stringify({ message: text, extra, status }), { headers: h });
  }

  async function readReply(reply: Msg, end: number): Promise<Piece[]> {
    const code = reply.headers?.get(errorHeader);
    if (code) {
      const { message, extra, status } = JSON.parse(decoder.decode(reply.data)) as {
        message: string;
        extra: Record<string, unknown>;
        status: number;
      };
      if (!(code in errorStatus)) throw new ChatError('INTERNAL_ERROR', message, extra);
      throw new ChatError(code as ErrorCode, message, extra, undefined, status);
    }
    return blocks.read(reply, end);
  }
}

/** Ends with the name of who asks, which NATS vouches for. */
export const subjectOf = (operation: Pick<Operation, 'service' | 'name'>, caller: string): string =>
  `natter.${operation.service}.${operation.name}.${caller}`;

const isRefusal = (error: unknown): boolean => error instanceof ChatError && error.status >= 400 && error.status < 500;

async function watchStatus(
  connection: NatsConnection,
  log: Logger,
  metrics: Metrics,
  listeners: (() => void)[],
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      metrics.natsUp.set(0);
      log.warn('NATS is away');
    }
    if (status.type === 'reconnect') {
      metrics.natsUp.set(1);
      log.info('NATS is back');
      for (const listener of listeners) listener();
    }
  }
}
