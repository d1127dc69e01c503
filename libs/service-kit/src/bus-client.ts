import { headers, type Msg, type NatsConnection, RequestError } from '@nats-io/nats-core';
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
import type { Blocks } from './blocks.ts';
import type { Piece } from './json-pieces.ts';
import { activeTrace, inSpan } from './tracing.ts';
import {
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

/** The calling side of the bus. */
export interface BusClient {
  /**
   * Asks the owner of an operation. Rejects with the owner's `ChatError`, or SERVICE_UNAVAILABLE: at once when nobody
   * serves it, after the deadline when the outcome is unknown. Read-only operations are tried once more.
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

    async callBytes(operation, params, options) {
      const end = Date.now() + (options.timeoutMs ?? operation.deadlineMs);
      const pieces = await client.callPieces(operation, params, options);
      try {
        return await blocks.fetch(pieces, end);
      } catch (error) {
        // The process that offered the blocks is gone; another one can answer as well.
        if (!operation.isReadOnly) throw error;
        const timeoutMs = Math.max(end - Date.now(), 1);
        return blocks.fetch(await client.callPieces(operation, params, { ...options, timeoutMs }), end);
      }
    },

    callPieces(operation, params, options) {
      return inSpan(`call ${operation.service}.${operation.name}`, { kind: 'client' }, () =>
        request(operation, { actor: options.actor, meta: options.meta, params }, options.timeoutMs),
      );
    },
  };
  return client;

  async function request(operation: Operation, envelope: Envelope, timeoutMs?: number): Promise<Piece[]> {
    const payload = encodeJson(envelope);
    if (payload.length > 2 * limits.bodyBytes) throw new ChatError('REQUEST_TOO_LARGE', 'The request is too large');
    const end = Date.now() + (timeoutMs ?? operation.deadlineMs);
    for (let attempt = 0; ; attempt++) {
      try {
        return await requestOnce(operation, payload, end);
      } catch (error) {
        if (error instanceof ChatError) throw error;
        const isUnserved = error instanceof RequestError && error.isNoResponders();
        const mayRetry = isUnserved || operation.isReadOnly;
        if (!mayRetry || attempt >= 20 || Date.now() + 100 >= end) throw unavailable(error);
        await new Promise((resolve) => setTimeout(resolve, 30 + Math.random() * 70));
      }
    }
  }

  async function requestOnce(operation: Operation, payload: Uint8Array, end: number): Promise<Piece[]> {
    const remaining = end - Date.now();
    const h = headers();
    const offered = blocks.offerBytes(payload, h);
    try {
      h.set(deadlineHeader, String(remaining));
      h.set(knownHeader, 'pieces');
      const traceparent = activeTrace();
      if (traceparent) h.set(traceHeader, traceparent);
      const reply = await nats.request(subjectOf(operation, name), offered.payload, {
        timeout: Math.max(remaining, 1),
        headers: h,
      });
      return await readReply(reply, end);
    } finally {
      offered.end();
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
