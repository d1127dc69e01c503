import { ChatError, type Operation, uploadOperations } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import type { FastifyReply } from 'fastify';
import { expect, test, vi } from 'vitest';
import { handOver } from './files.ts';

const meta = { requestId: 'r', realmId: 1, client: 'test' };
const file = { name: 'a.bin', contentType: 'application/octet-stream', bytes: Buffer.alloc(2 * 1024 * 1024, 7) };
const limit = 10 * 1024 * 1024;

/** A bus that keeps the chunks it is given, or refuses all of them. */
function busThat(answer: () => Promise<object>) {
  const chunks: { ordinal: number; size?: number; bytes: string }[] = [];
  const call = (_: Operation, chunk: (typeof chunks)[number]) => {
    chunks.push(chunk);
    return answer();
  };
  return { bus: { call } as unknown as Bus, chunks };
}

test('if a file does not fit into the quota of its organization, only one chunk is sent', async () => {
  const { bus, chunks } = busThat(async () => {
    throw new ChatError('REALM_UPLOAD_QUOTA', 'full');
  });
  await expect(handOver(bus, { operation: uploadOperations.uploadFile, meta }, [file], limit)).rejects.toThrow('full');
  expect(chunks.map(({ ordinal, size }) => [ordinal, size])).toEqual([[0, file.bytes.length]]);
});

test('a file is sent whole, each chunk once', async () => {
  const { bus, chunks } = busThat(async () => ({}));
  const sent = await handOver(bus, { operation: uploadOperations.uploadFile, meta }, [file], limit);
  const inOrder = [...chunks].sort((a, b) => a.ordinal - b.ordinal);
  expect(Buffer.concat(inOrder.map(({ bytes }) => Buffer.from(bytes, 'base64'))).equals(file.bytes)).toBe(true);
  expect([sent.size, new Set(chunks.map(({ ordinal }) => ordinal)).size]).toEqual([file.bytes.length, chunks.length]);
});

test('a request beside a download is charged with half of its CPU time', async () => {
  // Tests of other files in this process may leave work in progress. These modules do not count it.
  vi.resetModules();
  const [{ measureCost }, { sendFile }] = [await import('@natter/service-kit'), await import('./files.ts')];
  let usedMs = 0;
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: usedMs * 1_000, system: 0 }));
  // The counters are read at most every 10 ms, also for work of others.
  const longer = () => new Promise((resolve) => setTimeout(resolve, 50));
  await longer();
  const call = async () => {
    // The request begins before the CPU time is used.
    await longer();
    usedMs += 200;
    await longer();
    return { bytes: file.bytes.toString('base64') };
  };
  let chunks: AsyncIterable<Buffer> | undefined;
  const reply = { header: () => reply, code: () => reply, send: (body: AsyncIterable<Buffer>) => (chunks = body) };
  const request = { reply: reply as unknown as FastifyReply, asked: undefined, isHead: false };
  sendFile({ call } as unknown as Bus, { operation: uploadOperations.getFile, meta }, { key: 'k', size: 9 }, request);
  const spent = await measureCost(async (spentMs) => {
    for await (const chunk of chunks ?? []) expect(chunk.length).toBe(9);
    return spentMs();
  });
  expect(spent).toBe(100);
  vi.restoreAllMocks();
});
