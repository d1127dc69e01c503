import { EventEmitter } from 'node:events';
import {
  type Actor,
  eventQueueOperations,
  presenceOperations,
  socialOperations,
  uploadOperations,
  userOperations,
} from '@natter/contracts';
import { expect, test } from 'vitest';
import { createPauses } from '../rate-limit/pauses.ts';
import type { Budgets, RateState } from '../rate-limit/rate-limit.ts';
import { createCallers, type Exchange, type Rates } from './caller.ts';

const rate = { limit: 100, windowSeconds: 60 };
const rates: Rates = {
  ...{ user: rate, bots: rate, files: rate, realm: rate },
  ...{ anonymous: rate, anonymousFiles: rate, anonymousPictures: rate },
};
const actor = { realmId: 1, userId: 7 } as Actor;

/** Callers whose limiter answers that requests come so many milliseconds too early. */
function callersWith(aheadMs: number) {
  const asked: string[][] = [];
  const weights: number[] = [];
  const limiter = {
    spend: async ({ all }: Budgets, weight: number, maxAheadMs = Number.POSITIVE_INFINITY): Promise<RateState> => {
      asked.push(all.map(({ who }) => who));
      weights.push(weight);
      const resetInSeconds = aheadMs / 1_000;
      return { limit: 100, remaining: 1, reset: 60, resetInSeconds, isOver: aheadMs > maxAheadMs, aheadMs };
    },
  };
  const slowRefusals = { mark: (error: Error) => error };
  const pauses = createPauses();
  const callers = createCallers({ limiter, rates, slowRefusals, pauses, authenticator: {} } as never);
  const raw = Object.assign(new EventEmitter(), { closed: false });
  const request = { ip: '127.0.0.1' };
  const reply = { raw, request, header: () => reply };
  return { callers, pauses, asked, weights, raw, exchange: { request, reply } as unknown as Exchange };
}

/** Whether the promise has settled after `ms` milliseconds. */
async function settledAfter(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const pending = new Promise((resolve) => setTimeout(resolve, ms, 'pending'));
  return (await Promise.race([promise, pending])) !== 'pending';
}

test('a poll that comes too early waits, and other requests do not', async () => {
  const { callers, exchange } = callersWith(200);
  expect(await settledAfter(50, callers.countCall(eventQueueOperations.getEvents, exchange, actor))).toBe(false);
  const other = callers.countCall(userOperations.getOwnUser, exchange, actor);
  expect(await settledAfter(50, other)).toBe(true);
});

test('the wait of a poll ends when its client disconnects', async () => {
  const { callers, raw, exchange } = callersWith(9_000);
  const counted = callers.countCall(eventQueueOperations.getEvents, exchange, actor);
  await new Promise(setImmediate);
  raw.emit('close');
  await counted;
  expect(raw.listenerCount('close')).toBe(0);
});

test('the waits of polls end one after the other when the gateway stops, and later polls do not wait', async () => {
  const { callers, pauses, raw, exchange } = callersWith(9_000);
  raw.setMaxListeners(100);
  const poll = () => callers.countCall(eventQueueOperations.getEvents, exchange, actor);
  const ended: number[] = [];
  const polls = Array.from({ length: 50 }, () => poll().then(() => ended.push(performance.now())));
  await new Promise(setImmediate);
  pauses.stop();
  expect(await settledAfter(50, poll())).toBe(true);
  expect(await settledAfter(2_000, Promise.all(polls))).toBe(true);
  expect((ended.at(-1) ?? 0) - (ended[0] ?? 0)).toBeGreaterThan(100);
  expect(raw.listenerCount('close')).toBe(0);
});

test('a poll that would have to wait for long is refused, with the time after which it may come', async () => {
  const { callers, exchange } = callersWith(12_000);
  await expect(callers.countCall(eventQueueOperations.getEvents, exchange, actor)).rejects.toMatchObject({
    code: 'RATE_LIMIT_HIT',
    extra: { 'retry-after': 12 },
  });
  await callers.countCall(userOperations.getOwnUser, exchange, actor);
});

test('what a page shows of others uses neither the budget for logins nor that of the user', async () => {
  const { callers, asked, exchange } = callersWith(0);
  const { uploadedAvatar } = socialOperations;
  await callers.countCall(uploadedAvatar, exchange, undefined);
  await callers.countCall(uploadOperations.getExternalContent, exchange, undefined);
  await callers.countCall(userOperations.getServerSettings, exchange, undefined);
  await callers.countCall(uploadOperations.getFile, exchange, actor);
  await callers.countCall(uploadOperations.getFile, exchange, { ...actor, botOwnerId: 3 });
  expect(asked).toEqual([
    ['picture:127.0.0.1'],
    ['file:127.0.0.1'],
    ['picture:127.0.0.1'],
    ['files:7', 'realm'],
    ['user:7', 'bots:3', 'realm'],
  ]);
});

test('a report of presence counts for its user, and the budget of the realm is left for other requests', async () => {
  const { callers, asked, weights, exchange } = callersWith(0);
  const { updatePresence, getRealmPresence } = presenceOperations;
  await callers.countCall(updatePresence, exchange, actor);
  await callers.countMore(2, updatePresence, exchange, actor);
  await callers.countCall(getRealmPresence, exchange, actor);
  expect(asked).toEqual([['user:7'], ['user:7'], ['user:7', 'realm']]);
  expect(weights).toEqual([1, 2, 3]);
});

test('a file counts at most a whole budget with its request, so that a large one can be downloaded', async () => {
  const { callers, weights, exchange } = callersWith(0);
  const mebibyte = 1024 * 1024;
  for (const who of [actor, undefined])
    for (const size of [mebibyte, 2.5 * mebibyte, 1_024 * mebibyte])
      await callers.countFile(size, uploadOperations.getFile, exchange, who);
  expect(weights).toEqual([2, 99, 2, 99]);
});
