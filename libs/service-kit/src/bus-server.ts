import { headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/nats-core';
import { type Service, Svcm } from '@nats-io/services';
import { type ChatError, catchUpOperations, type Operation, type ServiceName, unavailable } from '@natter/contracts';
import { type Answers, createLanes, type Deadline, type Gates, withDeadline, withOwner } from '@natter/database';
import { answerOnce, type BusCall, claimOf, type Fingerprint, isWrite } from './answer-once.ts';
import type { Blocks } from './blocks.ts';
import type { CatchUp } from './catch-up.ts';
import { createFailureLog } from './failure-log.ts';
import type { Context, Handlers } from './handlers.ts';
import { JsonPieces, type Piece } from './json-pieces.ts';
import type { LagMeter } from './lag.ts';
import type { Logger } from './logging.ts';
import type { Metrics } from './metrics.ts';
import { type Freshness, runOnCurrentVersions, type Serving } from './retry-on-changed-versions.ts';
import { inSpan } from './tracing.ts';
import {
  askHeader,
  attemptHeader,
  cancelHeader,
  cancelSubjectOf,
  deadlineHeader,
  decodeJson,
  type Envelope,
  encodeJson,
  errorHeader,
  keyedName,
  knownHeader,
  lagHeader,
  requestIdHeader,
  subjectOf,
  traceHeader,
} from './wire.ts';

/** The serving side of the bus. */
export interface BusServer {
  serve(name: ServiceName, version: string, handlers: Handlers): Promise<void>;
  /** How this process brings its copies of others' data up to date before it answers. */
  useCatchUp(catchUp: CatchUp): void;
  /** How this process keeps versions as they are for a handler that runs again. */
  useGates(gates: Gates): void;
  /** Where this process stores the answers of writes, and how it names requests with a key. */
  useAnswers(answers: Answers, fingerprint: Fingerprint): void;
  /** Takes no more requests; resolves when those that were taken are answered. Calls to others still work. */
  retire(): Promise<void>;
}

interface Parts {
  nats: NatsConnection;
  blocks: Blocks;
  log: Logger;
  metrics: Metrics;
  refreshActor: Freshness['refreshActor'];
  lag: LagMeter;
}

/** More than a process can answer before their callers give up. */
const maxInFlight = 20_000;
/** How long requests in flight hold up a process that stops. */
const retireMs = 10_000;
const usualDeadlineMs = 15_000;
/** A request ends so much earlier than its caller gives up, at most: the caller is told what happened. */
const marginMs = 250;

export function createBusServer({ nats, blocks, log, metrics, refreshActor, lag }: Parts): BusServer {
  const services: Service[] = [];
  const toChatError = createFailureLog();
  const freshness: Freshness = {
    catchUp: async () => ({ isStale: false, realmVersion: undefined, isComplete: false }),
    refreshActor,
    gates: { hold: (_, work) => work(), enter: (_, unit) => unit([]) },
    inLane: createLanes(),
  };
  /** Requests that their callers may cancel: by caller and cancel id. */
  const cancellable = new Map<string, () => void>();
  let kept: { answers: Answers; fingerprint: Fingerprint } | undefined;
  /** Requests that are worked on, by caller and id: each with the copies of it that came. */
  const workedOn = new Map<string, [Msg, ...Msg[]]>();
  let inFlight = 0;
  let whenIdle: () => void = () => undefined;

  return {
    async serve(name, version, handlers) {
      const service = await new Svcm(nats).add({
        name: `natter-${name}`,
        version,
        description: `Natter ${name} service`,
        queue: name,
      });
      services.push(service);
      nats.subscribe(cancelSubjectOf(name, '*'), {
        callback: (error, message) => {
          if (error) return;
          if (message.headers?.has(askHeader)) tellWorkedOn(message);
          else cancellable.get(`${callerOf(message)} ${message.string()}`)?.();
        },
      });
      const own = catchUpOperations.find((operation) => operation.service === name);
      const all = own ? [...handlers, { operation: own, run: catchUpFor }] : handlers;
      for (const handler of all)
        for (const endpoint of namesOf(handler.operation))
          service.addEndpoint(endpoint, {
            subject: subjectOf({ service: name, name: endpoint }, '*'),
            handler: (error, message) => {
              if (error) log.warn({ err: error }, 'endpoint error');
              else admit(message, handler);
            },
          });
      await nats.flush();
    },

    useCatchUp: (catchUp) => {
      freshness.catchUp = catchUp;
    },

    useGates: (gates) => {
      freshness.gates = gates;
    },

    useAnswers: (answers, fingerprint) => {
      kept = { answers, fingerprint };
    },

    retire: async () => {
      await Promise.all(services.splice(0).map((service) => service.stop().catch(() => undefined)));
      if (inFlight > 0)
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
          setTimeout(resolve, retireMs).unref();
        });
      await blocks.settled();
    },
  };

  /** A write has a second name, for callers that may send it again. */
  function namesOf(operation: Operation): string[] {
    return kept && isWrite(operation) ? [operation.name, keyedName(operation.name)] : [operation.name];
  }

  function admit(message: Msg, handler: Handlers[number]): void {
    const { operation } = handler;
    const id = callOf(message)?.id;
    const key = id && `${callerOf(message)} ${id}`;
    // Sent again while this process works on it.
    const before = key && workedOn.get(key);
    if (before) {
      before.push(message);
      return;
    }
    if (inFlight >= maxInFlight) {
      const busy = unavailable(new Error('too many requests in flight'));
      refuse(
        message,
        toChatError(busy, operation, () => log),
      );
      return;
    }
    inFlight++;
    const messages: [Msg, ...Msg[]] = [message];
    if (key) workedOn.set(key, messages);
    const parent = message.headers?.get(traceHeader) || undefined;
    const waitsMs = Number(message.headers?.get(deadlineHeader) || usualDeadlineMs);
    void inSpan(`${operation.service}.${operation.name}`, { kind: 'server', parent }, () =>
      withDeadline(waitsMs - Math.min(marginMs, waitsMs / 10), (deadline) => answer(messages, handler, deadline)),
    ).finally(() => {
      if (key) workedOn.delete(key);
      inFlight--;
      if (inFlight === 0) whenIdle();
    });
  }

  /** `messages`: the request, and copies of it that come meanwhile. */
  async function answer(messages: [Msg, ...Msg[]], handler: Handlers[number], deadline: Deadline): Promise<void> {
    const [message] = messages;
    const { operation } = handler;
    const cancelId = message.headers?.get(cancelHeader);
    const cancelKey = cancelId ? `${callerOf(message)} ${cancelId}` : undefined;
    let isCancelled = false;
    const cancel = (): void => {
      isCancelled = true;
      deadline.cancel();
    };
    if (cancelKey !== undefined) cancellable.set(cancelKey, cancel);
    const stop = metrics.requestSeconds.startTimer({ operation: operation.name });
    // Created lazily: most requests never log.
    let requestLog = (): Logger => log;
    try {
      const end = Date.now() + deadline.remainingMs();
      const envelope = decodeJson(await blocks.fetch(await blocks.read(message, end), end)) as Envelope;
      checkCaller(message, operation, envelope);
      requestLog = () =>
        log.child({
          requestId: envelope.meta.requestId,
          realm: envelope.meta.realmId,
          user: envelope.actor?.userId,
          operation: operation.name,
        });
      const result = await runHandler(envelope, handler, callOf(message), { deadline, log: () => requestLog() });
      const pieces = result instanceof JsonPieces ? result.pieces : [encodeJson(result ?? {})];
      for (const each of messages) await respond(each, pieces, end);
      stop({ outcome: 'success' });
    } catch (error) {
      // Nobody waits for the answer: neither a failure nor a success.
      if (isCancelled) return void stop({ outcome: 'CANCELLED' });
      const chatError = toChatError(error, operation, requestLog);
      for (const each of messages) refuse(each, chatError);
      stop({ outcome: chatError.code });
    } finally {
      if (cancelKey !== undefined) cancellable.delete(cancelKey);
    }
  }

  /** Which of its calls this process works on. */
  function tellWorkedOn(message: Msg): void {
    const caller = callerOf(message);
    const ids = message.string().split(' ');
    const known = ids.filter((id) => workedOn.has(`${caller} ${id}`));
    if (known.length > 0) message.respond(known.join(' '));
  }

  async function runHandler(
    envelope: Envelope,
    handler: Handlers[number],
    call: BusCall | undefined,
    serving: Omit<Serving, 'claim'>,
  ): Promise<unknown> {
    const claim = kept && claimOf(handler.operation, envelope, call, kept.fingerprint);
    const owner = { realmId: envelope.meta.realmId, userId: envelope.actor?.userId ?? 0 };
    const run = () => withOwner(owner, () => runOnCurrentVersions(envelope, handler, freshness, { ...serving, claim }));
    const { answerOf = (stored: unknown) => stored } = handler;
    if (!kept || !claim) return answerOf(await run());
    const once = { realmId: envelope.meta.realmId, claim, answers: kept.answers, isRetry: (call?.attempt ?? 0) > 0 };
    return answerOf(await answerOnce(once, handler.operation.name, run));
  }

  function refuse(message: Msg, { code, message: text, extra, status }: ChatError): void {
    const h = lagHeaders();
    h.set(errorHeader, code);
    message.respond(JSON.stringify({ message: text, extra, status }), { headers: h });
  }

  function lagHeaders(): MsgHdrs {
    const h = headers();
    h.set(lagHeader, lag.current().toFixed(1));
    return h;
  }

  async function catchUpFor({ meta }: Context): Promise<object> {
    await freshness.catchUp(meta.realmId);
    return {};
  }

  async function respond(message: Msg, pieces: readonly Piece[], end: number): Promise<void> {
    const h = lagHeaders();
    if (message.headers?.get(knownHeader) === 'pieces') {
      message.respond(blocks.offer(pieces, h), { headers: h });
      return;
    }
    const bytes = Buffer.concat(await blocks.fetch(pieces, end));
    message.respond(blocks.offerBytes(bytes, h).payload, { headers: h });
  }
}

/** NATS permissions keep others from publishing in its name. */
const callerOf = (message: Msg): string => message.subject.split('.').at(-1) ?? '';

/** Callers of the previous release name no request. */
function callOf({ headers }: Msg): BusCall | undefined {
  const id = headers?.get(requestIdHeader);
  return id ? { id, attempt: Number(headers?.get(attemptHeader) || 0) } : undefined;
}

/** Only the gateway knows the actor. */
function checkCaller(message: Msg, operation: Operation, { actor }: Envelope): void {
  const caller = callerOf(message);
  if (actor && operation.caller !== 'anyone' && caller !== 'gateway')
    throw new Error(`${caller} asked for ${operation.name} in the name of a user`);
  if (!operation.callers.some((allowed) => allowed === caller))
    throw new Error(`${caller} asked for ${operation.name}, which is not for it`);
}
