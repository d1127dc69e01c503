import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';

const firstBytes = 16_384;

/**
 * The body of an admitted request. It is copied into one buffer that doubles: chunks of a byte each would take a hundred times
 * their size. Stops reading at the limit of the operation or the budget of the caller; the connection stays usable for the answer.
 */
export async function readBody(request: FastifyRequest, payload: Readable): Promise<Buffer> {
  const { admitted } = request;
  if (!admitted) throw bodyTooLarge();
  const { lease, maxBodyBytes } = admitted;
  let buffer = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const needed = size + chunk.length;
    if (needed > maxBodyBytes) throw bodyTooLarge();
    if (needed > buffer.length) {
      const length = Math.max(needed, Math.min(2 * buffer.length, maxBodyBytes), firstBytes);
      lease.grow(length - buffer.length);
      const larger = Buffer.allocUnsafeSlow(length);
      buffer.copy(larger, 0, 0, size);
      buffer = larger;
    }
    chunk.copy(buffer, size);
    size = needed;
  }
  return buffer.subarray(0, size);
}

export const bodyTooLarge = (): Error => Object.assign(new Error('The request is too large'), { statusCode: 413 });
