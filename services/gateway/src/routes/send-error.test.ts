import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createLogger } from '@natter/service-kit';
import Fastify, { type FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { streamOf } from '../http/answer-memory.ts';
import { createErrorMapper } from './send-error.ts';

/** Log lines of a request that is answered by a stream. */
async function logOf(
  stream: (request: FastifyRequest, client: Socket) => AsyncIterable<Uint8Array>,
): Promise<string[]> {
  const lines: string[] = [];
  const toChatError = createErrorMapper({
    log: createLogger('test', 'info', { write: (line) => void lines.push(line) }),
    router: { find: () => undefined },
    maxUploadBytes: 1,
  });
  const app = Fastify();
  const mapped = new Promise<void>((resolve) => {
    app.setErrorHandler((error, request, reply) => {
      toChatError(error, request);
      resolve();
      return reply.code(500).send('');
    });
  });
  app.post('/', (request, reply) => reply.send(streamOf(stream(request, client), 1)));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  client.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}');
  await mapped;
  client.destroy();
  await app.close();
  return lines;
}

async function* afterHangUp(request: FastifyRequest, client: Socket): AsyncIterable<Uint8Array> {
  client.destroy();
  await once(request.raw.socket, 'close');
  yield Buffer.from('x');
}

// biome-ignore lint/correctness/useYield: it fails before its first piece
async function* broken(): AsyncIterable<Uint8Array> {
  throw new Error('the source broke');
}

test('a client that closes its connection before a streamed response begins is not logged as a failure', async () => {
  expect(await logOf(afterHangUp)).toEqual([]);
});

test('a stream that fails while its client waits is logged as a failure', async () => {
  expect((await logOf(broken)).join('')).toContain('the source broke');
});
