import { readFile } from 'node:fs/promises';
import type { System } from '@natter/local/system';
import { RawSocket, rawRequest } from '@natter/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorizationOf, request } from '../api.ts';
import { metric } from '../metrics.ts';
import { openSystem } from '../open-system.ts';

let system: System;
let pids: (number | undefined)[];
let head: string;
beforeAll(async () => {
  system = await openSystem({
    env: {
      NATTER_RATE_LIMIT_ANONYMOUS: '1000000',
      NATTER_BODY_MEMORY_MIB: '64',
      NATTER_BODY_MEMORY_PER_CALLER_MIB: '40',
      NATTER_MAX_CONNECTIONS_PER_ADDRESS: '60',
      // Shorter times would also meet requests of a busy machine.
      NATTER_HEADERS_TIMEOUT_SECONDS: '6',
      NATTER_STALL_SECONDS: '6',
      NATTER_MIN_BYTES_PER_SECOND: '20',
      NATTER_KEEP_ALIVE_SECONDS: '2',
    },
    gateways: 1,
  });
  pids = system.children.map((child) => child.pid());
  head = `${host()}Authorization: ${authorizationOf(system.people.owner)}\r\n`;
});
afterAll(() => system?.stop());

const host = (): string => `Host: ${new URL(system.url).host}\r\n`;
const isWell = async (): Promise<void> => {
  const { status } = await request(system.url, system.people.owner, 'GET /users/me');
  expect(status).toBe(200);
  expect(system.children.map((child) => child.pid())).toEqual(pids);
};
/** Resident memory of the gateway, in MiB. */
async function gatewayMemory(): Promise<number> {
  const gateway = system.children.find(({ program }) => program === 'gateway');
  const text = await readFile(`/proc/${gateway?.pid()}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) / 1024;
}

test('headers that never end return 408, and an idle connection is closed', async () => {
  const [slow, silent, idle] = await Promise.all([1, 2, 3].map(() => RawSocket.open(system.url)));
  slow?.send('GET / HTTP/1.1\r\nHost:');
  idle?.send(`GET /api/v1/users/me HTTP/1.1\r\n${head}\r\n`);
  expect((await slow?.answer())?.status).toBe(408);
  expect((await idle?.answer())?.status).toBe(200);
  await Promise.all([slow?.closed, silent?.closed, idle?.closed]);
  await isWell();
});

test('a body that stalls or trickles returns 408', async () => {
  const [stalled, trickling] = await Promise.all([1, 2].map(() => RawSocket.open(system.url)));
  for (const socket of [stalled, trickling])
    socket?.send(
      `POST /api/v1/typing HTTP/1.1\r\n${head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9000\r\n\r\nop=`,
    );
  const timer = setInterval(() => trickling?.send('x'), 200);
  try {
    for (const socket of [stalled, trickling]) expect((await socket?.answer())?.status).toBe(408);
  } finally {
    clearInterval(timer);
  }
  await isWell();
});

/** How many connections the gateway closed because nobody read from them. */
const stalledCuts = (): Promise<number> => metric(system, 'gateway', 'natter_connections_cut_total', '"stalled"');

test('a client that does not read its responses is disconnected, but a held poll is not', async () => {
  const { body } = await request(system.url, system.people.owner, 'POST /register', { event_types: ['drafts'] });
  const poll = await RawSocket.open(system.url);
  poll.send(`GET /api/v1/events?queue_id=${body.queue_id}&last_event_id=-1 HTTP/1.1\r\n${head}\r\n`);
  const before = await stalledCuts();
  const deaf = await RawSocket.open(system.url);
  deaf.pause();
  // Together larger than the kernel's buffers.
  deaf.send(`GET /openapi.json HTTP/1.1\r\n${host()}\r\n`.repeat(60));
  // A paused client sees the end only when it reads again.
  await expect.poll(stalledCuts).toBeGreaterThan(before);
  deaf.resume();
  await deaf.closed;
  const answers = deaf.received.match(/HTTP\/1\.1 200/g)?.length ?? 0;
  expect(answers).toBeLessThan(60);
  // On a slow machine the poll may have ended with a heartbeat, and its idle connection afterwards.
  expect(poll.isClosed && !poll.received.includes('heartbeat')).toBe(false);
  poll.destroy();
  await isWell();
});

/** How many chunks of files the services read. */
const chunkReads = (): Promise<number> =>
  metric(system, 'messaging', 'natter_request_seconds_count', 'operation="read-file-chunk"');

test('a stalled reader of server-sent events is disconnected, and its unread events are not kept', async () => {
  const { owner } = system.people;
  const { body } = await request(system.url, owner, 'POST /register', { event_types: ['drafts'] });
  const stream = await RawSocket.open(system.url);
  stream.send(
    `GET /api/v1/events?queue_id=${body.queue_id}&last_event_id=-1 HTTP/1.1\r\n${head}Accept: text/event-stream\r\n\r\n`,
  );
  await stream.until((received) => received.includes('retry: 1000'));
  stream.pause();
  const [before, cuts] = [await gatewayMemory(), await stalledCuts()];
  const drafts = Array.from({ length: 60 }, () => ({ type: '', to: [], topic: '', content: 'x'.repeat(10_000) }));
  // Together larger than the kernel's buffers.
  const rounds = 60;
  for (let round = 0; round < rounds; round++) {
    const made = await request(system.url, owner, 'POST /drafts', { drafts });
    expect(made.status).toBe(200);
    // Deletes the drafts, whose total size is limited.
    for (const enable_drafts_synchronization of [false, true])
      expect((await request(system.url, owner, 'PATCH /settings', { enable_drafts_synchronization })).status).toBe(200);
  }
  await expect.poll(stalledCuts).toBeGreaterThan(cuts);
  expect((await gatewayMemory()) - before).toBeLessThan(300);
  stream.resume();
  await stream.closed;
  expect(stream.received.split('\nid: ').length).toBeLessThan(rounds);
  await isWell();
});

test('a download ends when its client disconnects', async () => {
  const size = 24 * 1024 * 1024;
  const form = Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="f"; filename="large.bin"\r\n\r\n'),
    Buffer.alloc(size, 'x'),
    Buffer.from('\r\n--b--\r\n'),
  ]);
  const uploader = await RawSocket.open(system.url);
  uploader.send(
    `POST /api/v1/user_uploads HTTP/1.1\r\n${head}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${form.length}\r\n\r\n`,
  );
  uploader.send(form);
  const { status, json } = await uploader.answer();
  uploader.destroy();
  expect(status).toBe(200);
  const get = `GET ${json.url} HTTP/1.1\r\n${head}\r\n`;
  const [before, memory] = [await chunkReads(), await gatewayMemory()];
  const clients = 20;
  for (let count = 0; count < clients; count++) {
    const socket = await RawSocket.open(system.url);
    socket.send(get);
    await socket.until((received) => received.length > 1_000);
    // The kernel keeps less than half of the file for a client that does not read.
    socket.pause();
    socket.destroy(count % 2 === 0);
  }
  let read = 0;
  const grown = async (): Promise<number> => {
    const earlier = read;
    read = (await chunkReads()) - before;
    return read - earlier;
  };
  // Waits until the downloads have ended, completely or not.
  await expect.poll(grown, { interval: 1_000 }).toBe(0);
  // The whole file is 128 chunks.
  expect(read).toBeGreaterThanOrEqual(clients);
  expect(read).toBeLessThan((clients * 128) / 2);
  expect((await gatewayMemory()) - memory).toBeLessThan(200);
  const whole = await RawSocket.open(system.url);
  whole.send(get);
  expect((await whole.answer()).body.length).toBe(size);
  whole.destroy();
  await isWell();
});

test('files that arrive byte by byte are stored unchanged and do not delay others', async () => {
  const content = Array.from({ length: 2_000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
  const form = `--b\r\nContent-Disposition: form-data; name="f"; filename="slow.txt"\r\n\r\n${content}\r\n--b--\r\n`;
  const request_ = `POST /api/v1/user_uploads HTTP/1.1\r\n${head}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${form.length}\r\n\r\n${form}`;
  const sockets = await Promise.all(Array.from({ length: 10 }, () => RawSocket.open(system.url)));
  for (let at = 0; at < request_.length; at++) {
    for (const socket of sockets) socket.send(request_[at] ?? '');
    await new Promise((resolve) => setImmediate(resolve));
    if (at % 500 === 0) await isWell();
  }
  for (const socket of sockets) {
    const { status, json } = await socket.answer();
    expect(status).toBe(200);
    const file = await rawRequest(system.url, `GET ${json.url} HTTP/1.1\r\n${head}\r\n`);
    expect(file.body).toBe(content);
    socket.destroy();
  }
});

test('an address has a limited number of connections', async () => {
  const sockets = await Promise.all(Array.from({ length: 120 }, () => RawSocket.open(system.url)));
  const extra = sockets.slice(60);
  await Promise.all(extra.map((socket) => socket.closed));
  for (const socket of sockets) socket.destroy();
  await Promise.all(sockets.map((socket) => socket.closed));
  await expect
    .poll(() =>
      request(system.url, system.people.owner, 'GET /users/me').then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  await isWell();
});

test('40 simultaneous uploads of 20 MiB by one user stay within their budget, which is released afterwards', async () => {
  const size = 20 * 1024 * 1024;
  const before = await gatewayMemory();
  const file = '--b\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n';
  const sockets = await Promise.all(Array.from({ length: 40 }, () => RawSocket.open(system.url)));
  for (const socket of sockets)
    socket.send(
      `POST /api/v1/user_uploads HTTP/1.1\r\n${head}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${size}\r\n\r\n${file}`,
    );
  // The last byte is missing, so no request is complete.
  const bytes = Buffer.alloc(size - file.length - 1, 'x');
  for (const socket of sockets) socket.send(bytes);
  const refused = sockets.map((socket) =>
    socket.answer().then(
      ({ status, json }) => [status, json?.code],
      () => ['closed'],
    ),
  );
  const answers = await Promise.all(refused);
  // A slow sender on a busy machine may be disconnected before.
  expect(answers.some(([, code]) => code === 'RATE_LIMIT_HIT')).toBe(true);
  expect(answers.every(([status]) => status === 429 || status === 408 || status === 'closed')).toBe(true);
  for (const socket of sockets) socket.destroy();
  console.log(`gateway: ${Math.round(before)} MiB before, ${Math.round(await gatewayMemory())} MiB after`);
  expect((await gatewayMemory()) - before).toBeLessThan(400);
  const form = Buffer.from(`${file}hello\r\n--b--\r\n`);
  await expect
    .poll(
      async () =>
        (
          await rawRequest(
            system.url,
            `POST /api/v1/user_uploads HTTP/1.1\r\n${head}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${form.length}\r\n\r\n${form}`,
          )
        ).status,
    )
    .toBe(200);
  await isWell();
});

test('chunks of one byte do not cost more than their bytes', async () => {
  const before = await gatewayMemory();
  const socket = await RawSocket.open(system.url);
  socket.send(
    `POST /api/v1/user_uploads HTTP/1.1\r\n${head}Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  socket.send('1\r\nx\r\n'.repeat(1_000_000));
  socket.send('0\r\n\r\n');
  expect((await socket.answer(120_000)).status).toBe(400);
  socket.destroy();
  expect((await gatewayMemory()) - before).toBeLessThan(200);
  await isWell();
});

test('the operations server survives malformed requests too', async () => {
  for (const child of system.children) {
    const url = `http://127.0.0.1:${child.operationsPort()}`;
    for (const bytes of [
      'x\r\n\r\n',
      'GET http://a/%ff HTTP/1.1\r\nHost: a\r\n\r\n',
      'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx',
    ]) {
      const socket = await RawSocket.open(url);
      socket.send(bytes);
      await socket.until((received) => received.includes('HTTP/1.1'));
      socket.destroy(true);
    }
  }
  await isWell();
});
