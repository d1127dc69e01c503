import type { Readable } from 'node:stream';
import { badRequest, eventQueueOperations } from '@natter/contracts';
import type { FastifyRequest } from 'fastify';
import { tenantOf } from '../rate-limit/tenant.ts';
import type { Arrival } from './body-budget.ts';
import type { BodyTurns } from './body-turns.ts';

const firstBytes = 16_384;
/** Bodies up to this size are received at once. */
const smallBodyBytes = 65_536;
/**
 * Framing that a chunked body may have: this much, and a sixteenth of its size. Each chunk costs about 8 µs, also one of a
 * byte. A read of the socket may contain the next request, which is far less.
 */
const framingBytes = 256 * 1024;

interface Receiving {
  request: FastifyRequest;
  admitted: NonNullable<FastifyRequest['admitted']>;
  payload: Readable;
  turns: BodyTurns;
}

/** The body of an admitted request. Fails at the limit of the operation, or at the rate limit or the budget of the caller. */
export async function readBody(request: FastifyRequest, payload: Readable, turns: BodyTurns): Promise<Buffer> {
  const { admitted } = request;
  if (!admitted) throw bodyTooLarge();
  // Most bodies arrived as a whole during the admission. Then no iterator and no copy is needed.
  const isReceived = request.raw.complete && !payload.destroyed && payload.readableLength <= smallBodyBytes;
  if (!isReceived) return receiveBody({ request, admitted, payload, turns });
  const body: Buffer = payload.read() ?? Buffer.alloc(0);
  await admitted.bodyCount.add(body.length);
  if (body.length > admitted.maxBodyBytes) throw bodyTooLarge();
  if (body.length > 0) admitted.lease.grow(Math.max(body.length, firstBytes));
  return body;
}

/**
 * Copies a body into one buffer that grows, because chunks of a byte each would take a hundred times their size. Large
 * bodies are received in turns. After a failure the connection stays usable for the response.
 */
async function receiveBody({ request, admitted, payload, turns }: Receiving): Promise<Buffer> {
  const { lease, maxBodyBytes, bodyCount } = admitted;
  const tenant = tenantOf(admitted);
  const checkFraming = framingCheck(request);
  const announced = Number(request.headers['content-length'] ?? maxBodyBytes);
  let buffer = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const needed = size + chunk.length;
    await bodyCount.add(chunk.length);
    if (needed > maxBodyBytes) throw bodyTooLarge();
    checkFraming(chunk.length);
    const take = (): void => {
      if (needed > buffer.length) {
        const length = Math.max(needed, Math.min(2 * buffer.length, announced), firstBytes);
        lease.grow(length - buffer.length);
        const larger = Buffer.allocUnsafeSlow(length);
        buffer.copy(larger, 0, 0, size);
        buffer = larger;
      }
      chunk.copy(buffer, size);
    };
    if (needed <= smallBodyBytes) take();
    else await turns.run({ tenant, receivedBytes: chunk.length }, take);
    size = needed;
  }
  return buffer.subarray(0, size);
}

/** The connection on which the body of a request arrives. */
export class BodyArrival implements Arrival {
  readonly #request: FastifyRequest;
  readonly #onCut: () => void;

  constructor(request: FastifyRequest, onCut: () => void) {
    this.#request = request;
    this.#onCut = onCut;
  }

  get mayBeCut(): boolean {
    return !this.#request.raw.complete || this.#request.operationName === eventQueueOperations.getEvents.name;
  }

  cut(): void {
    const { socket } = this.#request.raw;
    if (socket.destroyed) return;
    this.#onCut();
    socket.destroy();
  }
}

/** Is called with the length of each chunk of a body, before anything of it is read from the socket. */
export function framingCheck({ raw: { socket } }: FastifyRequest): (chunkBytes: number) => void {
  const startBytes = socket.bytesRead;
  let size = 0;
  return (chunkBytes) => {
    size += chunkBytes;
    if (socket.bytesRead - startBytes - size > framingBytes + size / 16)
      throw badRequest('The body is sent in too many small chunks');
  };
}

export const bodyTooLarge = (): Error => Object.assign(new Error('The request is too large'), { statusCode: 413 });
