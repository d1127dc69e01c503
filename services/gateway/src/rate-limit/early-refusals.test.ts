import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, expect, test } from 'vitest';
import { createEarlyRefusals, type EarlyRefusals } from './early-refusals.ts';

let early: EarlyRefusals;
let room = 0;
let ownRoom = 0;
let nowMs = 0;
const tenant = { realmId: 1, userId: 7 };

beforeEach(() => {
  [room, ownRoom, nowMs] = [0, 100, 0];
  early = createEarlyRefusals(
    (_, { all, own }) => all >= room || own >= ownRoom,
    { limit: 5, windowSeconds: 60 },
    () => nowMs,
  );
});

function isRefused(request: IncomingMessage, response: ServerResponse): boolean {
  const found = early.tenantOf(request);
  return found !== undefined && early.tryRefuse(found, request, response);
}

const requestOf = (headers: IncomingMessage['headers']) => ({ headers, complete: true }) as IncomingMessage;
const own = { host: 'chat.example', authorization: 'Basic own' };
const responseOf = () => new EventEmitter() as ServerResponse;

test('a request is refused early only if its credentials were authenticated before and there is no room', () => {
  expect(isRefused(requestOf(own), responseOf())).toBe(false);
  early.authenticated(requestOf(own), tenant);
  expect(isRefused(requestOf(own), responseOf())).toBe(true);
  for (const other of [
    { ...own, authorization: 'Basic other' },
    { ...own, host: 'other.example' },
    { ...own, cookie: 'session=1' },
    { ...own, 'x-forwarded-host': 'other.example' },
    { host: own.host },
  ])
    expect(isRefused(requestOf(other), responseOf()), JSON.stringify(other)).toBe(false);
  room = 1;
  expect(isRefused(requestOf(own), responseOf())).toBe(false);
});

test('credentials are looked up again after ten seconds', () => {
  early.authenticated(requestOf(own), tenant);
  nowMs = 10_000;
  expect(isRefused(requestOf(own), responseOf())).toBe(false);
});

test('requests that are on their way to the fair share take room until they arrive or end', () => {
  early.authenticated(requestOf(own), tenant);
  room = 2;
  const requests = [requestOf(own), requestOf(own)] as const;
  const responses = [responseOf(), responseOf()] as const;
  for (const index of [0, 1] as const) expect(isRefused(requests[index], responses[index])).toBe(false);
  expect(isRefused(requestOf(own), responseOf())).toBe(true);
  early.arrived(requests[0]);
  responses[0].emit('close');
  expect(isRefused(requestOf(own), responseOf())).toBe(false);
  expect(isRefused(requestOf(own), responseOf())).toBe(true);
  responses[1].emit('close');
  expect(isRefused(requestOf(own), responseOf())).toBe(false);
});

test('a request that does not arrive within a second stops taking room', () => {
  early.authenticated(requestOf(own), tenant);
  room = 1;
  const [request, response] = [requestOf(own), responseOf()];
  expect(isRefused(request, response)).toBe(false);
  expect(isRefused(requestOf(own), responseOf())).toBe(true);
  nowMs = 1_000;
  expect(isRefused(requestOf(own), responseOf())).toBe(false);
  response.emit('close');
  expect(isRefused(requestOf(own), responseOf())).toBe(true);
});

test('an authenticated request whose body has not arrived takes no room', () => {
  early.authenticated(requestOf(own), tenant);
  room = 1;
  const slow = Object.assign(requestOf(own), { complete: false });
  expect(isRefused(slow, responseOf())).toBe(false);
  expect(isRefused(requestOf(own), responseOf())).toBe(true);
  early.authenticated(slow, tenant);
  expect(isRefused(requestOf(own), responseOf())).toBe(false);
});

test('requests that are coming are counted by user too', () => {
  early.authenticated(requestOf(own), tenant);
  const other = { ...own, authorization: 'Basic other' };
  early.authenticated(requestOf(other), { ...tenant, userId: 8 });
  [room, ownRoom] = [100, 2];
  const first = requestOf(own);
  for (const request of [first, requestOf(own)]) expect(isRefused(request, responseOf())).toBe(false);
  expect(isRefused(requestOf(own), responseOf())).toBe(true);
  expect(isRefused(requestOf(other), responseOf())).toBe(false);
  early.arrived(first);
  expect(isRefused(requestOf(own), responseOf())).toBe(false);
});

test('requests without credentials are never taken for those of a user', () => {
  early.authenticated(requestOf({ host: own.host }), tenant);
  expect(isRefused(requestOf({ host: own.host }), responseOf())).toBe(false);
});

test('a user is counted by the rate limit again after as many refusals as it allows requests', () => {
  early.authenticated(requestOf(own), tenant);
  const other = { ...own, authorization: 'Basic other' };
  early.authenticated(requestOf(other), { ...tenant, userId: 8 });
  for (let nth = 0; nth < 5; nth++) expect(isRefused(requestOf(own), responseOf())).toBe(true);
  expect(isRefused(requestOf(own), responseOf())).toBe(false);
  room = 1;
  expect(isRefused(requestOf(own), responseOf()), 'requests above the rate limit take no room').toBe(false);
  room = 0;
  expect(isRefused(requestOf(other), responseOf())).toBe(true);
});
