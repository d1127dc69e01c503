import type { Msg, NatsConnection, Subscription } from '@nats-io/nats-core';
import { type Service, Svcm } from '@nats-io/services';
import {
  type BusUser,
  catchUpOperations,
  maxAnswerBytes,
  type Operation,
  type ServiceName,
  unavailable,
} from '@natter/contracts';
import { type Answers, createLanes, type Deadline, type Gates, withDeadline } from '@natter/database';
import { type Fingerprint, isWrite } from './answer-once.ts';
import type { Permits } from './authorize.ts';
import type { Blocks } from './blocks.ts';
import { flushed } from './bus-connection.ts';
import { createHeaders, headerOf, setHeader } from './bus-headers.ts';
import { createReplies } from './bus-replies.ts';
import { bodyOf, callerOf, callOf, checkCaller } from './bus-request.ts';
import type { CatchUp } from './catch-up.ts';
import { checkHandlers } from './check-handlers.ts';
import { measureCost } from './cost.ts';
import { AnswerTooLarge, encodeAnswer } from './encode-answer.ts';
import { createFailureLog } from './failure-log.ts';
import type { Context, Handlers } from './handlers.ts';
import type { LagMeter } from './lag.ts';
import type { Logger } from './logging.ts';
import type { Metrics } from './metrics.ts';
import { createRecovery } from './recovery.ts';
import { release } from './release.ts';
import type { Freshness } from './retry-on-changed-versions.ts';
import { type Kept, runHandler } from './run-handler.ts';
import { watchStandstills } from './standstills.ts';
import { subscribe } from './subscribe.ts';
import { inSpan } from './tracing.ts';
import { untilAnswered } from './unreported-costs.ts';
import {
  askHeader,
  cancelHeader,
  cancelSubjectOf,
  deadlineHeader,
  decodeEnvelope,
  directSubjectOf,
  instanceHeader,
  keyedName,
  nameOnNats,
  operationNameOf,
  subjectOf,
  traceHeader,
} from './wire.ts';
import type { Units } from './writes.ts';

/** The serving side of the bus. */
export interface BusServer {
  serve(name: ServiceName, handlers: Handlers): Promise<void>;
  /** Makes a process that serves no operation visible to `natter doctor`, to `ping` and to `nats micro`. */
  announce(name: BusUser): Promise<void>;
  /** Sets how this process brings its projections up to date before it answers. */
  useCatchUp(catchUp: CatchUp): void;
  /** Sets how this process holds versions for a handler that runs again. */
  useGates(gates: Gates): void;
  /** Sets what decides realm permissions for operations of this process. */
  usePermits(permits: Permits): void;
  /** Sets how this process reads actors again, instead of asking the users service. */
  useActors(refreshActor: Freshness['refreshActor']): void;
  /** Sets how this process opens units, stores the answers of writes, and fingerprints requests with a key. */
  useWrites(writes: { units: Units; answers: Answers; fingerprint: Fingerprint }): void;
  /** Accepts no more requests; resolves when accepted requests are answered. Calls to other services still work. */
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

/** Maximum number of requests in flight. More could not be answered before their deadlines. */
const maxInFlight = 20_000;
/** Maximum time that requests in flight delay a stopping process. */
const retireMs = 10_000;
const usualDeadlineMs = 15_000;
/** A request ends at most this much before its caller gives up, so that the caller learns the outcome. */
const marginMs = 250;

const identityOf = (name: BusUser) => ({ name: nameOnNats(name), version: release, description: `Natter ${name}` });

export function createBusServer({ nats, blocks, log, metrics, refreshActor, lag }: Parts): BusServer {
  const services: Service[] = [];
  const direct: Subscription[] = [];
  const replies = createReplies(blocks, lag);
  const toChatError = createFailureLog();
  const freshness: Freshness = {
    catchUp: async () => ({ isStale: false, realmVersion: undefined, isComplete: true }),
    refreshActor,
    permits: undefined,
    units: undefined,
    gates: { hold: (_, __, work) => work(), enter: (_, unit) => unit([]) },
    inLane: createLanes(),
  };
  /** Cancellable requests, by caller and cancel id. */
  const cancellable = new Map<string, () => void>();
  let kept: Kept | undefined;
  const recovery = createRecovery();
  const standstills = watchStandstills(nats);
  /** Requests in progress, by caller and id, with their repetitions. */
  const workedOn = new Map<string, [Msg, ...Msg[]]>();
  let inFlight = 0;
  let whenIdle: () => void = () => undefined;

  return {
    async serve(name, handlers) {
      const own = catchUpOperations.find((operation) => operation.service === name);
      const all = own ? [...handlers, { operation: own, run: catchUpFor }] : handlers;
      checkHandlers(name, all);
      const service = await new Svcm(nats).add({ ...identityOf(name), queue: name });
      services.push(service);
      subscribe(nats, cancelSubjectOf(name, '*'), log, (message) => {
        if (headerOf(message, askHeader)) answerWorkedOn(message);
        else cancellable.get(`${callerOf(message)} ${message.string()}`)?.();
      });
      for (const handler of all)
        for (const endpoint of namesOf(handler.operation))
          service.addEndpoint(endpoint, {
            subject: subjectOf({ service: name, name: endpoint }, '*'),
            handler: (error, message) => {
              if (error) log.warn({ err: error }, 'an endpoint on NATS failed');
              else admit(message, handler);
            },
          });
      takeDirectly(name, all);
      // A start waits for its servers.
      await flushed(nats, Number.POSITIVE_INFINITY);
    },

    async announce(name) {
      // A NATS server with the configuration of the previous release refuses it; the process works without.
      try {
        services.push(await new Svcm(nats).add(identityOf(name)));
      } catch (error) {
        log.warn({ err: error }, 'registering this process for natter doctor failed');
      }
    },

    useCatchUp: (catchUp) => {
      freshness.catchUp = catchUp;
    },

    usePermits: (permits) => {
      freshness.permits = permits;
    },

    useActors: (refreshActor) => {
      freshness.refreshActor = refreshActor;
    },

    useGates: (gates) => {
      freshness.gates = gates;
    },

    useWrites: ({ units, answers, fingerprint }) => {
      freshness.units = units;
      kept = { answers, fingerprint };
    },

    retire: async () => {
      for (const subscription of direct.splice(0)) subscription.unsubscribe();
      await Promise.all(services.splice(0).map((service) => service.stop().catch(() => undefined)));
      if (inFlight > 0)
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
          setTimeout(resolve, retireMs).unref();
        });
      await blocks.settled();
    },
  };

  /** Serves requests that are sent to this process directly while another process of the service hangs. */
  function takeDirectly(name: ServiceName, handlers: Handlers): void {
    const handlerOf = new Map(handlers.map((handler) => [handler.operation.name, handler]));
    // A NATS server with the configuration of the previous release refuses the subscription.
    const subject = directSubjectOf({ service: name, name: '*' }, blocks.subject, '*');
    const subscription = subscribe(nats, subject, log, (message) => {
      const handler = handlerOf.get(operationNameOf(message.subject));
      if (handler) admit(message, handler);
    });
    direct.push(subscription);
  }

  /** A write has a second name, for callers that may repeat it. */
  function namesOf(operation: Operation): string[] {
    return kept && isWrite(operation) ? [operation.name, keyedName(operation.name)] : [operation.name];
  }

  function admit(message: Msg, handler: Handlers[number]): void {
    const { operation } = handler;
    const id = callOf(message)?.id;
    const key = id && `${callerOf(message)} ${id}`;
    // The call was repeated while this process works on it.
    const before = key && workedOn.get(key);
    if (before) return void before.push(message);
    const waitsMs = standstills.remainingOf(Number(headerOf(message, deadlineHeader) || usualDeadlineMs));
    if (waitsMs === undefined) return;
    if (inFlight >= maxInFlight) {
      const busy = unavailable(new Error('too many requests in flight'));
      replies.refuse(
        message,
        toChatError(busy, operation, () => log),
        () => 0,
      );
      return;
    }
    inFlight++;
    const messages: [Msg, ...Msg[]] = [message];
    if (key) workedOn.set(key, messages);
    const parent = headerOf(message, traceHeader) || undefined;
    void inSpan(`${operation.service}.${operation.name}`, { kind: 'server', parent }, () =>
      withDeadline(waitsMs - Math.min(marginMs, waitsMs / 10), (deadline) =>
        measureCost((spentMs) => answer(messages, handler, { deadline, spentMs })),
      ),
    ).finally(() => {
      if (key) workedOn.delete(key);
      inFlight--;
      if (inFlight === 0) whenIdle();
    });
  }

  /** `messages`: the request and its repetitions. */
  async function answer(
    messages: [Msg, ...Msg[]],
    handler: Handlers[number],
    { deadline, spentMs }: { deadline: Deadline; spentMs: () => number },
  ): Promise<void> {
    const [message] = messages;
    const { operation } = handler;
    const cancelId = headerOf(message, cancelHeader);
    const cancelKey = cancelId ? `${callerOf(message)} ${cancelId}` : undefined;
    let isCancelled = false;
    const cancel = (): void => {
      isCancelled = true;
      deadline.cancel();
    };
    if (cancelKey !== undefined) cancellable.set(cancelKey, cancel);
    metrics.began();
    const stop = metrics.requestSeconds.startTimer({ operation: operation.name });
    // Created lazily: most requests never log.
    let requestLog = (): Logger => log;
    try {
      const envelope = decodeEnvelope(await bodyOf(messages, blocks, deadline));
      checkCaller(message, operation, envelope);
      requestLog = () =>
        log.child({
          requestId: envelope.meta.requestId,
          realm: envelope.meta.realmId,
          user: envelope.actor?.userId,
          operation: operation.name,
        });
      const isRetry = (): boolean => messages.some((one) => (callOf(one)?.attempt ?? 0) > 0);
      const request = { envelope, handler, call: callOf(message), isRetry };
      const failedAfterCommit = (error: unknown): void => {
        metrics.failuresAfterCommit.inc();
        requestLog().error({ err: error }, 'a committed write failed afterwards');
      };
      const running = { freshness, kept, recovery, failedAfterCommit };
      const run = () => runHandler(request, running, { deadline, log: () => requestLog() });
      // Requests without an account are charged to no realm. Neither are sections of a register, until they are answered.
      const result = await (envelope.actor ? untilAnswered(envelope.actor.realmId, spentMs, run) : run());
      const pieces = await encodeAnswer(result, maxAnswerBytes);
      const end = performance.now() + deadline.remainingMs();
      for (const each of messages) await replies.respond(each, pieces, { end, spentMs });
      stop({ outcome: 'success' });
    } catch (error) {
      // The caller no longer waits: the outcome counts neither as failure nor as success.
      if (isCancelled) return void stop({ outcome: 'CANCELLED' });
      if (error instanceof AnswerTooLarge) metrics.answersTooLarge.inc({ operation: operation.name });
      const chatError = toChatError(error, operation, requestLog);
      for (const each of messages) replies.refuse(each, chatError, spentMs);
      stop({ outcome: chatError.code });
    } finally {
      if (cancelKey !== undefined) cancellable.delete(cancelKey);
    }
  }

  /** Answers which of the caller's calls this process works on. */
  function answerWorkedOn(message: Msg): void {
    const ids = message.string().split(' ');
    const known = ids.filter((id) => workedOn.has(`${callerOf(message)} ${id}`));
    const h = createHeaders();
    setHeader(h, instanceHeader, blocks.subject);
    message.respond(known.join(' '), { headers: h });
  }

  async function catchUpFor({ meta }: Context): Promise<object> {
    await freshness.catchUp(meta.realmId, undefined, 'all');
    return {};
  }
}
