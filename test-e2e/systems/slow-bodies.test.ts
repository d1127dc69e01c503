/** Bodies of requests that never end, sent by few callers, whose memory others need. */
import type { System } from '@natter/local/system';
import { RawSocket } from '@natter/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { authorizationOf, type Credentials, request } from '../api.ts';
import { metric } from '../metrics.ts';
import { openSystem } from '../open-system.ts';
import { requestOnce } from '../patience.ts';

/** All bodies: half of them is for requests without an account, and half of that for one network. */
const bodyMemoryMib = 16;
/** Six of them are the share of one caller. */
const bodyBytes = 699_050;

let system: System;
const opened: RawSocket[] = [];

beforeAll(async () => {
  system = await openSystem({
    env: {
      NATTER_RATE_LIMIT_ANONYMOUS: '1000000',
      NATTER_TRUSTED_PROXIES: '127.0.0.1',
      NATTER_MAX_UPLOAD_MIB: '1',
      NATTER_BODY_MEMORY_MIB: String(bodyMemoryMib),
      NATTER_BODY_MEMORY_PER_CALLER_MIB: String(bodyMemoryMib / 4),
      // No client is disconnected because it pauses.
      NATTER_STALL_SECONDS: '600',
    },
    gateways: 1,
  });
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await expect.poll(heldBytes).toBe(0);
});
afterAll(() => system?.stop());

const heldBytes = (): Promise<number> => metric(system, 'gateway', 'natter_request_body_bytes');
const slowCuts = (): Promise<number> => metric(system, 'gateway', 'natter_connections_cut_total', '"slow"');

/** Sends the larger part of six bodies with the headers of each caller. */
async function holdAll(callers: readonly string[]): Promise<void> {
  for (const headers of callers)
    for (let count = 0; count < 6; count++) await beginBody('/messages', headers, 'x'.repeat(bodyBytes), 0.8);
  await isHeld(callers.length * 6 * bodyBytes);
}

/** Sends a part of a body. */
async function beginBody(path: string, headers: string, body: string, part: number): Promise<void> {
  const socket = await RawSocket.open(system.url);
  opened.push(socket);
  socket.send(
    `GET /api/v1${path} HTTP/1.1\r\nHost: ${new URL(system.url).host}\r\n${headers}\r\n` +
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  socket.send(body.slice(0, body.length * part));
}
const isHeld = (bytes: number) => expect.poll(heldBytes).toBe(bytes);
const headersOf = (who: Credentials): string => `Authorization: ${authorizationOf(who)}`;

test('two networks that never finish their bodies keep no other network from logging in', async () => {
  const { email, password } = system.people.member;
  await holdAll(['X-Forwarded-For: 192.0.2.1', 'X-Forwarded-For: 2001:db8:1::1']);
  const before = await slowCuts();
  const other = { email: '', api_key: '', headers: { 'x-forwarded-for': '192.0.2.2' } };
  const logIn = () => request(system.url, other, 'POST /fetch_api_key', { username: email, password });
  await expect.poll(async () => (await logIn()).status).toBe(200);
  expect(await slowCuts()).toBeGreaterThan(before);
});

test('the networks of an IPv6 /48 hold bodies as one caller', async () => {
  await holdAll(['X-Forwarded-For: 192.0.2.1', 'X-Forwarded-For: 2001:db8:1::1']);
  const neighbour = { email: '', api_key: '', headers: { 'x-forwarded-for': '2001:db8:1:7::1' } };
  const answer = await request(system.url, neighbour, 'POST /fetch_api_key', {
    username: 'a'.repeat(100_000),
    password: '',
  });
  expect([answer.status, answer.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
});

test('two members who send large bodies with their polls keep no colleague from sending', async () => {
  const { member, member2, owner } = system.people;
  const before = await slowCuts();
  for (const who of [member, member2])
    for (let count = 0; count < 6; count++) {
      const { body } = await requestOnce(system.url, who, 'POST /register', { event_types: ['drafts'] });
      const form = `queue_id=${body.queue_id}&last_event_id=-1${`&x=${'x'.repeat(1_000)}`.repeat(700)}`;
      await beginBody('/events', headersOf(who), form.slice(0, bodyBytes), 1);
    }
  await isHeld(2 * 6 * bodyBytes);
  const message = { type: 'direct', to: [owner.user_id], content: 'hello' };
  await expect.poll(async () => (await request(system.url, owner, 'POST /messages', message)).status).toBe(200);
  expect(await slowCuts()).toBeGreaterThan(before);
});

test('two members who never finish their bodies keep no colleague from sending', async () => {
  const { member, member2, owner } = system.people;
  await holdAll([headersOf(member), headersOf(member2)]);
  const message = { type: 'direct', to: [owner.user_id], content: 'hello' };
  await expect.poll(async () => (await request(system.url, owner, 'POST /messages', message)).status).toBe(200);
  const more = { ...message, content: 'x'.repeat(9_000) };
  expect((await request(system.url, owner, 'POST /messages', more)).status).toBe(200);
});
