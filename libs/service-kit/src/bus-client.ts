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
import type { Blocks } from './blocks.ts';
import type { Piece } from './json-pieces.ts';
import { activeTrace, inSpan } from './tracing.ts';
import {
  cancelHeader,
  cancelSubjectOf,
  deadlineHeader,
  decodeJson,
  type Envelope,
  encodeJson,
  errorHeader,
  knownHeader,
  subjectOf,
  traceHeader,
} from './wire.ts';

export interface CallOptions {
  actor?: Actor | undefined;
  meta: RequestMeta;
  timeoutMs?: number;
}

const maxRetries = 20;

/** The calling side of the bus. */
export interface BusClient {
  /**
   * Asks the owner of an operation. Rejects with the owner's `ChatError`, or SERVICE_UNAVAILABLE: at once when nobody
   * serves it, after the deadline when the outcome is unknown. The deadline is the operation's, or that of the work around
   * the call where less is left of it. Read-only operations are tried once more, and are cancelled when the work around ends.
   */
  call<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<ResultOf<O>>;
  /** As `call`; the result as it came, as JSON. */
  callBytes<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<Uint8Array[]>;
  /** As `call`; the result as it came, to be passed on: blocks in it are not fetched. */
  callPieces<O extends Operation>(operation: O, params: ParamsOf<O>, options: CallOptions): Promise<Piece[]>;
}

export function createBusClient(nats: NatsConnection, blocks: Blocks, name: string): BusClient {
  const client: BusClient = {
    async call(operation, params, options) {
      return decodeJson(await client.callBytes(operation, params, options)) as never;
    },

    callBytes(operation, params, options) {
      return withDeadline(options.timeoutMs ?? operation.deadlineMs, async (deadline) => {
        const end = Date.now() + deadline.remainingMs();
        const pieces = await send(operation, params, options, deadline);
        try {
          return await blocks.fetch(pieces, end);
        } catch (error) {
          // The process that offered the blocks is gone; another one can answer as well.
          if (!operation.isReadOnly) throw error;
          return blocks.fetch(await send(operation, params, options, deadline), end);
        }
      });
    },

    callPieces(operation, params, options) {
      return withDeadline(options.timeoutMs ?? operation.deadlineMs, (deadline) =>
        send(operation, params, options, deadline),
      );
    },
  };
  return client;

  function send<O extends Operation>(
    operation: O,
    params: ParamsOf<O>,
    { actor, meta }: CallOptions,
    deadline: Deadline,
  ): Promise<Piece[]> {
    return inSpan(`call ${operation.service}.${operation.name}`, { kind: 'client' }, () =>
      request(operation, { actor, meta, params }, deadline),
    );
  }

  async function request(operation: Operation, envelope: Envelope, deadline: Deadline): Promise<Piece[]> {
    const payload = encodeJson(envelope);
    if (payload.length > 2 * limits.bodyBytes) throw new ChatError('REQUEST_TOO_LARGE', 'The request is too large');
    for (let attempt = 0; ; attempt++) {
      deadline.check();
      try {
        return await requestOnce(operation, payload, deadline);
      } catch (error) {
        if (error instanceof ChatError) throw error;
        const isUnserved = error instanceof RequestError && error.isNoResponders();
        const mayRetry = isUnserved || operation.isReadOnly;
        if (!mayRetry || attempt >= maxRetries || deadline.remainingMs() <= 100) throw unavailable(error);
        await pause(30 + Math.random() * 70);
      }
    }
  }

  async function requestOnce(operation: Operation, payload: Uint8Array, deadline: Deadline): Promise<Piece[]> {
    const remainingMs = Math.max(Math.ceil(deadline.remainingMs()), 1);
    const h = headers();
    const offered = blocks.offerBytes(payload, h);
    // A write goes on: whoever asked cannot tell how far it has come.
    const cancelId = operation.isReadOnly ? nuid.next() : undefined;
    const stop = deadline.onEnd(() => {
      if (cancelId !== undefined) cancelRequest(operation, cancelId);
    });
    try {
      h.set(deadlineHeader, String(remainingMs));
      h.set(knownHeader, 'pieces');
      if (cancelId !== undefined) h.set(cancelHeader, cancelId);
      const traceparent = activeTrace();
      if (traceparent) h.set(traceHeader, traceparent);
      const options = { timeout: remainingMs, headers: h };
      const reply = await untilDeadline(nats.request(subjectOf(operation, name), offered.payload, options), deadline);
      return await readReply(reply, Date.now() + deadline.remainingMs());
    } finally {
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
