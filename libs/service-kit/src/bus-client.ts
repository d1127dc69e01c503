import {
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  nuid,
  PermissionViolationError,
  RequestError,
} from '@nats-io/nats-core';
import {
  type Actor,
  ChatError,
  type ErrorCode,
  errorStatus,
  limits,
  type Operation,
  type ParamsOf,
  type RequestMeta,
  type ResultOf,
  unavailable,
} from '@natter/contracts';
import { addCost, type Deadline, pause, untilDeadline, withDeadline } from '@natter/database';
import { type BusCall, isWrite } from './answer-once.ts';
import type { Blocks } from './blocks.ts';
import { createHeaders, headerOf, setHeader } from './bus-headers.ts';
import type { Piece } from './json-pieces.ts';
import { type Lag, lagOf, worstOf } from './lag.ts';
import type { LostCalls } from './lost-calls.ts';
import { activeTrace, inSpan } from './tracing.ts';
import { createCostsElsewhere, reportOf } from './unreported-costs.ts';
import {
  attemptHeader,
  cancelHeader,
  cancelSubjectOf,
  costHeader,
  deadlineHeader,
  decodeJson,
  directSubjectOf,
  type Envelope,
  encodeJson,
  errorHeader,
  keyedName,
  knownHeader,
  lagHeader,
  requestIdHeader,
  subjectOf,
  traceHeader,
  unreportedHeader,
} from './wire.ts';

export interface CallOptions {
  actor?: Actor | undefined;
  meta: RequestMeta;
  timeoutMs?: number;
}

/** A call in progress. */
interface Sending {
  call: BusCall;
  deadline: Deadline;
}

/** A request as NATS carries it. All attempts have the same headers, with their own number and deadline. */
interface Packed {
  payload: Uint8Array;
  headers: MsgHdrs;
}

interface Attempt {
  subject: string;
  packed: Packed;
  call: BusCall;
  /** Whether the call is repeated if no process works on it. */
  isWatched: boolean;
}

/** How long a call waits for a process that serves its operation. */
const unservedMs = 5_000;

/** The calling side of the bus. */
export interface BusClient {
  /**
   * Calls an operation of another service. Rejects with the owner's `ChatError`, or with SERVICE_UNAVAILABLE if no
   * process serves the operation for some seconds, or if the deadline passes and the outcome is unknown. The deadline
   * is that of the operation or of the surrounding work, whichever ends first. Reads are cancelled when the surrounding
   * work ends. Reads are repeated when their process or their answer is lost. Writes of the gateway are repeated too,
   * because their answers are stored under the call's id. While a process of the service hangs, calls are sent to the others.
   */
  call<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<ResultOf<O>>;
  /** Like `call`; returns the result as JSON bytes. */
  callBytes<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<Uint8Array[]>;
  /** Like `call`; returns the result for forwarding, without fetching its blocks. */
  callPieces<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<Piece[]>;
  /** The highest lag among the services that answered within the last second. */
  servicesLag(): Lag;
  /** Milliseconds, by realm, that unfinished requests and recent work for events cost in services. */
  unreportedCosts(): ReadonlyMap<number, number>;
}

export function createBusClient(nats: NatsConnection, blocks: Blocks, lost: LostCalls, name: string): BusClient {
  const lags = new Map<string, Lag & { at: number }>();
  const costs = createCostsElsewhere();
  const client: BusClient = {
    async call(operation, params, options) {
      return decodeJson(await client.callBytes(operation, params, options)) as never;
    },

    callBytes(operation, params, options) {
      return withDeadline(options.timeoutMs ?? operation.deadlineMs, async (deadline) => {
        const end = performance.now() + deadline.remainingMs();
        const id = nuid.next();
        const mayBeRepeated = isRepeatable(operation) || isKeyed(operation);
        for (let attempt = 0; ; attempt++) {
          const pieces = await send(operation, params, options, { call: { id, attempt }, deadline });
          try {
            return await blocks.fetch(pieces, end);
          } catch (error) {
            // The process that offered the blocks is gone, or NATS has lost its subscription; another process can answer too.
            const pauseMs = 30 * 2 ** attempt * (1 + Math.random());
            if (!mayBeRepeated || deadline.remainingMs() <= pauseMs + 100) throw error;
            if (attempt > 0) await pause(pauseMs);
          }
        }
      });
    },

    callPieces(operation, params, options) {
      return withDeadline(options.timeoutMs ?? operation.deadlineMs, (deadline) =>
        send(operation, params, options, { call: { id: nuid.next(), attempt: 0 }, deadline }),
      );
    },

    servicesLag() {
      const now = performance.now();
      return worstOf([...lags.values()].filter(({ at }) => now - at < 1_000));
    },

    unreportedCosts: costs.sum,
  };
  return client;

  /** Replicas of a service lag differently, so their values are averaged. */
  function noteLag(service: string, reply: Msg): void {
    const lag = lagOf(headerOf(reply, lagHeader));
    if (!lag) return;
    const last = lags.get(service) ?? lag;
    const mean = (before: number, now: number): number => before * 0.7 + now * 0.3;
    const report = reportOf(headerOf(reply, unreportedHeader));
    if (report) costs.note(report);
    lags.set(service, { ms: mean(last.ms, lag.ms), longMs: mean(last.longMs, lag.longMs), at: performance.now() });
  }

  function send<O extends Operation>(
    operation: O,
    params: ParamsOf<O>,
    { actor, meta }: CallOptions,
    sending: Sending,
  ): Promise<Piece[]> {
    return inSpan(`call ${operation.service}.${operation.name}`, { kind: 'client' }, () =>
      request(operation, { actor, meta, params }, sending),
    );
  }

  /** Whether the caller may use the keyed name of an operation (`keyedName`). NATS permits it only to the gateway. */
  function isKeyed(operation: Operation): boolean {
    return name === 'gateway' && isWrite(operation);
  }

  /** The parts of a large request are offered while the call lasts: a process reads those of an attempt that counts as lost. */
  async function request(operation: Operation, envelope: Envelope, sending: Sending): Promise<Piece[]> {
    const bytes = encodeJson(envelope);
    if (bytes.length > 2 * limits.bodyBytes) throw new ChatError('REQUEST_TOO_LARGE', 'The request is too large');
    const h = createHeaders();
    const { payload, end } = blocks.offerBytes(bytes, h, sending.deadline.remainingMs());
    try {
      return await requestUntilAnswered(operation, { payload, headers: h }, sending);
    } finally {
      end();
    }
  }

  async function requestUntilAnswered(
    operation: Operation,
    packed: Packed,
    { call, deadline }: Sending,
  ): Promise<Piece[]> {
    const canBeKeyed = isKeyed(operation);
    const mayBeRepeated = isRepeatable(operation) || canBeKeyed;
    let isAtKeyed = canBeKeyed;
    let { attempt } = call;
    let unservedSince: number | undefined;
    let mayBeDirect = true;
    for (;;) {
      deadline.check();
      const instance = mayBeDirect
        ? await untilDeadline(instanceFor(operation.service, mayBeRepeated), deadline)
        : undefined;
      const served = isAtKeyed ? { ...operation, name: keyedName(operation.name) } : operation;
      const subject = instance ? directSubjectOf(operation, instance, name) : subjectOf(served, name);
      const isWatched = isRepeatable(operation) || isAtKeyed || (canBeKeyed && instance !== undefined);
      try {
        return await requestOnce(operation, { subject, packed, call: { ...call, attempt }, isWatched }, deadline);
      } catch (error) {
        if (error instanceof ChatError) throw error;
        if (deadline.remainingMs() <= 100) throw unavailable(error);
        // The process is gone, or belongs to the previous release, or NATS has the configuration of that release.
        if (instance && (isUnserved(error) || isForbidden(error))) {
          mayBeDirect = false;
          continue;
        }
        if (isUnserved(error)) {
          unservedSince ??= performance.now();
          if (performance.now() - unservedSince > unservedMs) throw unavailable(error);
          // Processes of the previous release serve only the plain name. They store no answers, so a write that was
          // sent before is not sent to them.
          if (canBeKeyed && attempt === 0) isAtKeyed = !isAtKeyed;
          if (canBeKeyed && !isAtKeyed) continue;
        } else {
          if (!isWatched) throw unavailable(error);
          unservedSince = undefined;
          attempt++;
        }
        await pause(30 + Math.random() * 70);
      }
    }
  }

  /**
   * The process that a call is addressed to, if not any of its service. A call that may not be repeated would fail with
   * a process that hangs, so it is sent to one that answered just now.
   */
  async function instanceFor(service: string, mayBeRepeated: boolean): Promise<string | undefined> {
    return mayBeRepeated ? lost.responsive(service) : await lost.confirmed(service);
  }

  async function requestOnce(
    operation: Operation,
    { subject, packed: { payload, headers: h }, call: { id, attempt }, isWatched }: Attempt,
    deadline: Deadline,
  ): Promise<Piece[]> {
    const remainingMs = Math.max(Math.ceil(deadline.remainingMs()), 1);
    // A write continues: the caller cannot know how far it has come.
    const cancelId = operation.isReadOnly ? id : undefined;
    const stop = deadline.onEnd(() => {
      if (cancelId !== undefined) cancelRequest(operation, cancelId);
    });
    const watched = isWatched ? lost.watch(operation.service, id, attempt) : undefined;
    try {
      setHeader(h, deadlineHeader, String(remainingMs));
      setHeader(h, knownHeader, 'pieces');
      setHeader(h, requestIdHeader, id);
      if (attempt > 0) setHeader(h, attemptHeader, String(attempt));
      if (cancelId !== undefined) setHeader(h, cancelHeader, cancelId);
      const traceparent = activeTrace();
      if (traceparent) setHeader(h, traceHeader, traceparent);
      const replying = nats.request(subject, payload, { timeout: remainingMs, headers: h });
      const reply = await untilDeadline(watched ? Promise.race([replying, watched.lost]) : replying, deadline);
      noteLag(operation.service, reply);
      addCost(Number(headerOf(reply, costHeader) || 0));
      return await readReply(reply, performance.now() + deadline.remainingMs());
    } finally {
      watched?.done();
      stop();
    }
  }

  function cancelRequest(operation: Operation, cancelId: string): void {
    try {
      nats.publish(cancelSubjectOf(operation.service, name), cancelId);
    } catch {
      // The request ends at its deadline.
    }
  }

  async function readReply(reply: Msg, end: number): Promise<Piece[]> {
    const code = headerOf(reply, errorHeader);
    const pieces = await blocks.read(reply, end);
    if (!code) return pieces;
    const { message, extra, status } = decodeJson(await blocks.fetch(pieces, end)) as {
      message: string;
      extra: Record<string, unknown>;
      status: number;
    };
    if (!(code in errorStatus)) throw new ChatError('INTERNAL_ERROR', message, extra);
    throw new ChatError(code as ErrorCode, message, extra, { status });
  }
}

/** Whether a call may be sent again without a key. */
const isRepeatable = ({ isReadOnly, isIdempotent }: Operation): boolean => isReadOnly || isIdempotent;

const isUnserved = (error: unknown): boolean => error instanceof RequestError && error.isNoResponders();

/** NATS does not permit this process to publish to the subject. */
const isForbidden = (error: unknown): boolean =>
  error instanceof RequestError && error.cause instanceof PermissionViolationError;
