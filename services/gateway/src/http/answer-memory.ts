import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type ChatError, eventQueueOperations } from '@natter/contracts';
import { stringBytes, wideNetwork } from '@natter/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnswerBudget, AnswerLease, Reader } from './answer-budget.ts';
import type { Sender } from './memory-shares.ts';
import { networkOf } from './network.ts';

/** Smaller answers are not replaced by a refusal, which is hardly smaller. */
const smallBytes = 4_096;

export interface AnswerMemory {
  /** Throws if the client leaves too much unread. */
  check(sender: Sender): void;
  /**
   * The memory of a response that is written in parts, until it ends. The returned function sets its size; it closes
   * the connection and returns false if the client leaves too much unread.
   */
  hold(request: FastifyRequest, reply: FastifyReply): (bytes: number) => boolean;
  /**
   * Counts a response until the client has read it. Returns its body, or that of the error that replaces it, or closes
   * the connection if the request took effect: after an error, the client would assume that it had no effect.
   */
  count(request: FastifyRequest, reply: FastifyReply, body: unknown): unknown;
}

/** `refuse` sets status and headers of an error, and returns its body. */
export function createAnswerMemory(
  budget: AnswerBudget,
  onCut: () => void,
  refuse: (reply: FastifyReply, error: ChatError) => object,
): AnswerMemory {
  const readers = new WeakMap<Socket, Reader>();

  function readerOf(socket: Socket): Reader {
    const known = readers.get(socket);
    if (known) return known;
    const reader: Reader = {
      get deliveredBytes() {
        return socket.bytesWritten - socket.writableLength;
      },
      cut() {
        if (socket.destroyed) return;
        onCut();
        socket.destroy();
      },
    };
    readers.set(socket, reader);
    return reader;
  }

  function open(request: FastifyRequest, reply: FastifyReply): AnswerLease {
    const lease = budget.open(senderOf(request), readerOf(request.raw.socket));
    // A response that is closed does not close again.
    if (reply.raw.closed) lease.release();
    else reply.raw.once('close', lease.release);
    return lease;
  }

  return {
    check: budget.check,
    hold(request, reply) {
      const lease = open(request, reply);
      return (bytes) => {
        const refusal = lease.resize(bytes, false);
        if (refusal) readerOf(request.raw.socket).cut();
        return refusal === undefined;
      };
    },
    count(request, reply, body) {
      if (reply.raw.closed || reply.raw.destroyed) return body;
      const bytes = memoryOf(body);
      const lease = open(request, reply);
      const isRequired = bytes < smallBytes || !isRepeatable(request);
      const refusal = lease.resize(bytes, isRequired);
      if (!refusal) return body;
      if (body instanceof Readable) body.destroy();
      if (isRequired) readerOf(request.raw.socket).cut();
      for (const name of entityHeaders) reply.removeHeader(name);
      const error = JSON.stringify(refuse(reply.type('application/json; charset=utf-8'), refusal));
      if (!isRequired && lease.resize(error.length, true)) readerOf(request.raw.socket).cut();
      return error;
    },
  };
}

const entityHeaders = [
  ...['content-length', 'content-encoding', 'content-range', 'accept-ranges', 'content-disposition', 'cache-control'],
];

/** Whether the client may send the request again after its answer was refused. */
function isRepeatable({ method, admitted }: FastifyRequest): boolean {
  if (!admitted) return method === 'GET';
  const { operation } = admitted;
  // The effect of a register is a queue, which expires.
  return operation !== undefined && (operation.isReadOnly || operation.name === eventQueueOperations.register.name);
}

/** Memory of a text: as a string before it is sent, or as bytes while the connection takes no more. */
export const textBytes = (text: string): number => Math.max(stringBytes(text), Buffer.byteLength(text));

const streamBytes = new WeakMap<Readable, number>();

/** A stream as the body of a response. `heldBytes`: the memory that it occupies at most, until the response ends. */
export function streamOf(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, heldBytes: number): Readable {
  const stream = Readable.from(pieces, { objectMode: false });
  streamBytes.set(stream, heldBytes);
  return stream;
}

function memoryOf(body: unknown): number {
  if (typeof body === 'string') return textBytes(body);
  if (body instanceof Uint8Array) return body.length;
  if (body === undefined || body === null) return 0;
  const bytes = body instanceof Readable ? streamBytes.get(body) : undefined;
  if (bytes === undefined) throw new Error('the memory of a response is unknown: send a string, bytes, or `streamOf`');
  return bytes;
}

/** The caller to whom the memory of an answer is counted: the network, until the request is admitted. */
const senderOf = (request: FastifyRequest): Sender => request.admitted?.sender ?? networkSender(request);

export const networkSender = (request: FastifyRequest): Sender => ({
  group: 'anonymous',
  caller: `network:${wideNetwork(networkOf(request.ip))}`,
});
