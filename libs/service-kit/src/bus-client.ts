import { headers, type Msg, type NatsConnection, nuid, RequestError } from '@nats-io/nats-core';
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
import { type Deadline, pause, untilDeadline, withDeadline } from '@natter/database';
import { type BusCall, isWrite } from './answer-once.ts';
import type { Blocks } from './blocks.ts';
import type { Piece } from './json-pieces.ts';
import type { LostCalls } from './lost-calls.ts';
import { activeTrace, inSpan } from './tracing.ts';
import {
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

export interface CallOptions {
  actor?: Actor | undefined;
  meta: RequestMeta;
  timeoutMs?: number;
}

/** A call on its way. */
interface Sending {
  call: BusCall;
  deadline: Deadline;
}

interface Attempt {
  subject: string;
  payload: Uint8Array;
  call: BusCall;
  /** Whether it is sent again when nobody works on it. */
  isWatched: boolean;
}

/** How long a call waits for somebody to serve its operation. */
const unservedMs = 5_000;

/** The calling side of the bus. */
export interface BusClient {
  /**
   * Asks the owner of an operation. Rejects with the owner's `ChatError`, or SERVICE_UNAVAILABLE: when nobody serves it for
   * some seconds, or after the deadline when the outcome is unknown. The deadline is the operation's, or that of the work around
   * the call where less is left of it. Reads are cancelled when the work around ends. Reads, and writes of the gateway, whose
   * answers are stored under the call's id, are sent again when their process or their answer is lost.
   */
  call<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<ResultOf<O>>;
  /** As `call`; the result as it came, as JSON. */
  callBytes<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<Uint8Array[]>;
  /** As `call`; the result as it came, to be passed on: blocks in it are not fetched. */
  callPieces<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<Piece[]>;
  /** The highest lag, in milliseconds, of the services that answered within the last second. */
  servicesLagMs(): number;
}

export function createBusClient(nats: NatsConnection, blocks: Blocks, lost: LostCalls, name: string): BusClient {
  const lags = new Map<string, { ms: number; at: number }>();
  const client: BusClient = {
    async call(operation, params, options) {
      return decodeJson(await client.callBytes(operation, params, options)) as never;
    },

    callBytes(operation, params, options) {
      return withDeadline(options.timeoutMs ?? operation.deadlineMs, async (deadline) => {
        const end = Date.now() + deadline.remainingMs();
        const call = { id: nuid.next(), attempt: 0 };
        const pieces = await send(operation, params, options, { call, deadline });
        try {
          return await blocks.fetch(pieces, end);
        } catch (error) {
          // The process that offered the blocks is gone; another one can answer as well.
          if (!operation.isReadOnly && !isKeyed(operation)) throw error;
          const again = { call: { ...call, attempt: 1 }, deadline };
          return blocks.fetch(await send(operation, params, options, again), end);
        }
      });
    },

    callPieces(operation, params, options) {
      return withDeadline(options.timeoutMs ?? operation.deadlineMs, (deadline) =>
        send(operation, params, options, { call: { id: nuid.next(), attempt: 0 }, deadline }),
      );
    },

    servicesLagMs() {
      const now = Date.now();
      return Math.max(0, ...[...lags.values()].map(({ ms, at }) => (now - at < 1_000 ? ms : 0)));
    },
  };
  return client;

  /** Replicas of a service lag differently, so their values are averaged. */
  function noteLag(service: string, reply: Msg): void {
    const ms = Number(reply.headers?.get(lagHeader) || Number.NaN);
    if (!Number.isNaN(ms)) lags.set(service, { ms: (lags.get(service)?.ms ?? ms) * 0.7 + ms * 0.3, at: Date.now() });
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

  /** Only the gateway may ask at names that are not in the contract. */
  function isKeyed(operation: Operation): boolean {
    return name === 'gateway' && isWrite(operation);
  }

  async function request(operation: Operation, envelope: Envelope, { call, deadline }: Sending): Promise<Piece[]> {
    const payload = encodeJson(envelope);
    if (payload.length > 2 * limits.bodyBytes) throw new ChatError('REQUEST_TOO_LARGE', 'The request is too large');
    const canBeKeyed = isKeyed(operation);
    let isAtKeyed = canBeKeyed;
    let { attempt } = call;
    let unservedSince: number | undefined;
    for (;;) {
      deadline.check();
      const subject = subjectOf(isAtKeyed ? { ...operation, name: keyedName(operation.name) } : operation, name);
      const isWatched = operation.isReadOnly || isAtKeyed;
      try {
        return await requestOnce(operation, { subject, payload, call: { ...call, attempt }, isWatched }, deadline);
      } catch (error) {
        if (error instanceof ChatError) throw error;
        if (deadline.remainingMs() <= 100) throw unavailable(error);
        if (error instanceof RequestError && error.isNoResponders()) {
          unservedSince ??= performance.now();
          if (performance.now() - unservedSince > unservedMs) throw unavailable(error);
          // Processes of the previous release serve only the plain name; they store no answer, so they get no write that was sent before.
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

  async function requestOnce(
    operation: Operation,
    { subject, payload, call: { id, attempt }, isWatched }: Attempt,
    deadline: Deadline,
  ): Promise<Piece[]> {
    const remainingMs = Math.max(Math.ceil(deadline.remainingMs()), 1);
    const h = headers();
    const offered = blocks.offerBytes(payload, h);
    // A write goes on: whoever asked cannot tell how far it has come.
    const cancelId = operation.isReadOnly ? id : undefined;
    const stop = deadline.onEnd(() => {
      if (cancelId !== undefined) cancelRequest(operation, cancelId);
    });
    const watched = isWatched ? lost.watch(operation.service, id, attempt) : undefined;
    try {
      h.set(deadlineHeader, String(remainingMs));
      h.set(knownHeader, 'pieces');
      h.set(requestIdHeader, id);
      if (attempt > 0) h.set(attemptHeader, String(attempt));
      if (cancelId !== undefined) h.set(cancelHeader, cancelId);
      const traceparent = activeTrace();
      if (traceparent) h.set(traceHeader, traceparent);
      const replying = nats.request(subject, offered.payload, { timeout: remainingMs, headers: h });
      const reply = await untilDeadline(watched ? Promise.race([replying, watched.lost]) : replying, deadline);
      noteLag(operation.service, reply);
      return await readReply(reply, Date.now() + deadline.remainingMs());
    } finally {
      watched?.done();
      stop();
      offered.end();
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
    const code = reply.headers?.get(errorHeader);
    if (!code) return blocks.read(reply, end);
    const { message, extra, status } = decodeJson([reply.data]) as {
      message: string;
      extra: Record<string, unknown>;
      status: number;
    };
    if (!(code in errorStatus)) throw new ChatError('INTERNAL_ERROR', message, extra);
    throw new ChatError(code as ErrorCode, message, extra, undefined, status);
  }
}
