import type { System } from '@natter/local/system';
import { RawSocket } from '@natter/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { authorizationOf, request } from '../api.ts';
import { metric } from '../metrics.ts';
import { openSystem } from '../open-system.ts';
import { requestOnce } from '../patience.ts';

const mebibyte = 1024 * 1024;
/** All unread answers; one client may leave a quarter unread, and one organization half. */
const answerMemoryMib = 32;
/** Each person has drafts of this size. */
const draftBytes = 3_000_000;

type Name = keyof System['people'];
const people = ['owner', 'administrator', 'moderator', 'member', 'member2'] as const satisfies Name[];
let system: System;
const opened: RawSocket[] = [];

beforeAll(async () => {
  system = await openSystem({
    env: {
      NATTER_RATE_LIMIT_ANONYMOUS: '1000000',
      NATTER_ANSWER_MEMORY_MIB: String(answerMemoryMib),
      // No client is disconnected because it pauses.
      NATTER_STALL_SECONDS: '600',
    },
    gateways: 1,
  });
  for (const name of people) await fillDrafts(name);
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});
afterAll(() => system?.stop());

async function fillDrafts(name: Name): Promise<void> {
  const draft = { type: '', to: [], topic: '', content: 'x'.repeat(10_000) };
  const drafts = Array.from({ length: 50 }, () => draft);
  for (let bytes = 0; bytes < draftBytes; bytes += 500_000)
    expect((await requestOnce(system.url, system.people[name], 'POST /drafts', { drafts })).status).toBe(200);
}

const headOf = (name: Name): string => {
  return `Host: ${new URL(system.url).host}\r\nAuthorization: ${authorizationOf(system.people[name])}\r\n`;
};
const draftsOf = (name: Name): string => `GET /api/v1/drafts HTTP/1.1\r\n${headOf(name)}\r\n`;
const documentOf = (): string => `GET /openapi.json HTTP/1.1\r\nHost: ${new URL(system.url).host}\r\n\r\n`;

/** A connection that does not read. */
async function openDeaf(): Promise<RawSocket> {
  const socket = await RawSocket.open(system.url);
  opened.push(socket);
  socket.pause();
  return socket;
}
const openAll = (count: number): Promise<RawSocket[]> => Promise.all(Array.from({ length: count }, openDeaf));

/** Sends requests on connections that do not read, until the condition holds. Returns the number per connection. */
async function flood(sockets: RawSocket[], bytes: string, holds: () => Promise<boolean>): Promise<number> {
  let sent = 0;
  await expect
    .poll(async () => {
      for (const socket of sockets) socket.send(bytes);
      sent++;
      return holds();
    }, within)
    .toBe(true);
  return sent;
}
const isRefused = async (bytes: string): Promise<boolean> => (await answerOf(bytes)).status === 429;

/** The response on a connection of its own. */
async function answerOf(bytes: string) {
  const socket = await RawSocket.open(system.url);
  try {
    socket.send(bytes);
    return await socket.answer();
  } finally {
    socket.destroy();
  }
}

const unreadBytes = (): Promise<number> => metric(system, 'gateway', 'natter_unread_answer_bytes');
const cutCount = (): Promise<number> => metric(system, 'gateway', 'natter_connections_cut_total', '"unread"');

const within = { interval: 200 };
const isFree = () => expect.poll(unreadBytes, within).toBe(0);

test('a user who does not read is refused further large responses, and other users are not', async () => {
  const sockets = await openAll(10);
  // The kernel may accept more bytes later, which makes room. So the test checks the refusal that ends the flood.
  let refused = await answerOf(draftsOf('member'));
  const perConnection = await flood(sockets, draftsOf('member'), async () => {
    refused = await answerOf(draftsOf('member'));
    return refused.status === 429;
  });
  expect(refused.json).toMatchObject({ result: 'error', code: 'RATE_LIMIT_HIT' });
  expect(refused.headers).toMatch(/^retry-after: 1$/im);
  expect(refused.headers).toMatch(/^x-request-id: /im);
  expect(await unreadBytes()).toBeLessThanOrEqual((answerMemoryMib / 4 + 1) * mebibyte);
  const others = await answerOf(draftsOf('owner'));
  expect([others.status, others.json.drafts.length]).toEqual([200, 300]);
  // A change is neither refused nor left without a response.
  const changed = await request(system.url, system.people.member, 'PATCH /settings', {
    twenty_four_hour_time: true,
  });
  expect(changed.status).toBe(200);

  const answers = [];
  for (const socket of sockets) {
    socket.resume();
    for (let count = 0; count < perConnection; count++) answers.push(await socket.answer());
  }
  expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
  for (const { json } of answers.filter(({ status }) => status === 200)) expect(json.drafts).toHaveLength(300);
  await isFree();
  expect((await answerOf(draftsOf('member'))).status).toBe(200);
});

test('responses behind a held poll on the same connection count as unread', async () => {
  const { body } = await request(system.url, system.people.member2, 'POST /register', { event_types: ['presence'] });
  const poll = `GET /api/v1/events?queue_id=${body.queue_id}&last_event_id=-1 HTTP/1.1\r\n${headOf('member2')}\r\n`;
  const socket = await RawSocket.open(system.url);
  opened.push(socket);
  socket.send(poll + draftsOf('member2').repeat(10));
  await expect.poll(async () => (await answerOf(draftsOf('member2'))).status, within).toBe(429);
  expect(await unreadBytes()).toBeLessThanOrEqual((answerMemoryMib / 4 + 1) * mebibyte);
  socket.destroy();
  await isFree();
  expect((await answerOf(draftsOf('member2'))).status).toBe(200);
});

test('an anonymous network that does not read is refused further large documents, and users are not', async () => {
  await flood(await openAll(4), documentOf().repeat(10), () => isRefused(documentOf()));
  expect(await unreadBytes()).toBeLessThanOrEqual((answerMemoryMib / 4 + 1) * mebibyte);
  expect((await answerOf(draftsOf('owner'))).status).toBe(200);
  expect((await answerOf(`GET /health HTTP/1.1\r\nHost: ${new URL(system.url).host}\r\n\r\n`)).status).toBe(200);
  for (const socket of opened.splice(0)) socket.destroy();
  await isFree();
  expect((await answerOf(documentOf())).status).toBe(200);
});

test('users of one organization who do not read are disconnected before others are refused', async () => {
  const hostile = ['administrator', 'moderator', 'member', 'member2'] as const;
  const before = await cutCount();
  const isServed = async (): Promise<boolean> =>
    (await answerOf(draftsOf('owner'))).status === 200 && (await cutCount()) > before;
  await Promise.all(hostile.map(async (name) => flood(await openAll(4), draftsOf(name), isServed)));
  expect(await unreadBytes()).toBeLessThanOrEqual((answerMemoryMib / 2 + 1) * mebibyte);
  for (const socket of opened.splice(0)) socket.destroy();
  await isFree();
  for (const name of hostile) expect((await answerOf(draftsOf(name))).status).toBe(200);
});

test('unread streams of server-sent events end when the share of their reader is used up', async () => {
  const { owner } = system.people;
  const streams: RawSocket[] = [];
  for (let count = 0; count < 20; count++) {
    const { body } = await request(system.url, owner, 'POST /register', { event_types: ['drafts'] });
    const stream = await RawSocket.open(system.url);
    opened.push(stream);
    streams.push(stream);
    const url = `/api/v1/events?queue_id=${body.queue_id}&last_event_id=-1`;
    stream.send(`GET ${url} HTTP/1.1\r\n${headOf('owner')}Accept: text/event-stream\r\n\r\n`);
    await stream.until((received) => received.includes('retry: 1000'));
    stream.pause();
  }
  const before = await cutCount();
  const drafts = Array.from({ length: 60 }, () => ({ type: '', to: [], topic: '', content: 'x'.repeat(10_000) }));
  const isCut = async () => {
    expect((await request(system.url, owner, 'POST /drafts', { drafts })).status).toBe(200);
    // Deletes the drafts, whose total size is limited.
    for (const enable_drafts_synchronization of [false, true])
      expect((await request(system.url, owner, 'PATCH /settings', { enable_drafts_synchronization })).status).toBe(200);
    expect(await unreadBytes()).toBeLessThanOrEqual((answerMemoryMib / 4 + 1) * mebibyte);
    return (await cutCount()) > before;
  };
  await expect.poll(isCut, { interval: 10 }).toBe(true);
  for (const stream of streams) stream.resume();
  await Promise.any(streams.map((stream) => stream.closed));
});
