import type { LogEntry } from '@natter/contracts';
import type { LogRedis, Verifier } from '@natter/event-log';
import { type Bus, type Logger, untilDeadline, withDeadline } from '@natter/service-kit';
import { afterEach, expect, test, vi } from 'vitest';
import { startTail } from './realm-tail.ts';
import { createRealmTails } from './realm-tails.ts';

afterEach(() => void vi.useRealTimers());

/** The resources that tails hold on a bus that answers `clock`, or does not answer. */
function tailsOn(clock: () => Promise<unknown>) {
  const held = { subscriptions: 0, reconnects: 0, ready: 0 };
  const hold = (kind: keyof typeof held) => {
    held[kind]++;
    return () => void held[kind]--;
  };
  const bus = {
    subscribe: () => hold('subscriptions'),
    onReconnect: () => hold('reconnects'),
    flush: async () => undefined,
    call: clock,
  } as unknown as Bus;
  const redis = { on: () => hold('ready'), off: () => void held.ready-- };
  const log = { redis } as unknown as LogRedis;
  const verifier = {} as unknown as Verifier;
  const logger = { debug: () => undefined } as unknown as Logger;
  const tails = createRealmTails({
    bus,
    log,
    verifier,
    logger,
    maxBytes: 1_000,
    onEntry: () => undefined,
    onSkip: () => undefined,
  });
  return { held, tails };
}
const meta = { requestId: '', realmId: 1, client: '' };
const nothing = { subscriptions: 0, reconnects: 0, ready: 0 };

test('a tail that cannot start does not keep a subscription', async () => {
  const { held, tails } = tailsOn(async () => {
    throw new Error('away');
  });
  for (let attempt = 0; attempt < 3; attempt++) await expect(tails.get(meta)).rejects.toThrow('away');
  expect(held).toEqual(nothing);
  await tails.stop();
});

test('a request that ends does not end the start of a tail that others have joined', async () => {
  const clock = Promise.withResolvers<unknown>();
  let starts = 0;
  const { tails } = tailsOn(() => {
    starts++;
    return untilDeadline(clock.promise);
  });
  const ended = withDeadline(60_000, async (deadline) => {
    tails.follow(meta);
    const tail = tails.get(meta);
    deadline.cancel();
    return tail;
  });
  const joined = tails.get(meta);
  await expect(ended).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  clock.resolve({ clock: 1, epoch: 1, entries: [] });
  expect((await joined).position).toEqual({ number: 1, n: 0 });
  expect(starts).toBe(1);
  await tails.stop();
});

test('a tail is started to follow a realm, and not to tell whether the realm is followed', async () => {
  const { held, tails } = tailsOn(async () => ({ clock: 1, epoch: 1, entries: [] }));
  expect(tails.isCurrent(1)).toBe(false);
  expect(held).toEqual(nothing);
  tails.follow(meta);
  await expect.poll(() => tails.isCurrent(1)).toBe(true);
  await tails.stop();
});

test('an unused tail releases all its resources', async () => {
  vi.useFakeTimers();
  const { held, tails } = tailsOn(async () => ({ clock: 1, epoch: 1, entries: [] }));
  await tails.get(meta);
  expect(held).toEqual({ subscriptions: 1, reconnects: 1, ready: 1 });
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(held).toEqual(nothing);
  await tails.stop();
});

/** A tail at number 1, and what processes announce to it. Redis has everything. */
async function followed(stream: LogEntry[]) {
  let hear = (_payload: Uint8Array): void => undefined;
  let reads = 0;
  const bus = {
    subscribe: (_subject: string, listener: typeof hear) => {
      hear = listener;
      return () => undefined;
    },
    onReconnect: () => () => undefined,
    flush: async () => undefined,
    call: async () => ({ clock: 1, epoch: 1, entries: [] }),
  } as unknown as Bus;
  const rangeScript = async (_key: string, from: string) => {
    reads++;
    const [number = 0, n = 0] = from.split('-').map(Number);
    const rows = stream
      .filter((entry) => entry.number > number || (entry.number === number && entry.n > n))
      .map(({ number, n, mark, ...rest }) => [`${number}-${n}`, ['m', mark, 'd', JSON.stringify(rest), 's', '']]);
    return { rows, isAtEnd: true };
  };
  const redis = { on: () => undefined, off: () => undefined };
  const verifier = { isGenuine: () => true, isGenuineHint: () => true } as unknown as Verifier;
  const tail = await startTail({
    bus,
    log: { redis, rangeScript } as unknown as LogRedis,
    verifier,
    realmId: 1,
    meta,
    logger: { debug: () => undefined, error: () => undefined } as unknown as Logger,
    onEntry: () => undefined,
    onSkip: () => undefined,
    onBytes: () => undefined,
  });
  const announce = (hint: object): void => hear(Buffer.from(JSON.stringify(hint)));
  const seen = () => tail.after({ number: 1, n: 0 })?.map(({ number, n }) => [number, n]);
  return { tail, announce, seen, reads: () => reads };
}

const entryAt = (number: number, n: number): LogEntry => {
  const event = { type: 'tick' as const, body: {}, audience: { users: { ids: [] } } };
  return { number, n, mark: number, previousMark: n === 0 ? number - 1 : 0, at: 0, event };
};

test.each([
  [
    'a durable entry is announced before the ephemeral one in front of it',
    { entries: [entryAt(2, 0)], behind: { number: 1, n: 1 } },
    { entries: [entryAt(1, 1)] },
    [entryAt(1, 1), entryAt(2, 0)],
  ],
  [
    'an ephemeral entry is announced before the one in front of it',
    { entries: [entryAt(1, 2)] },
    { entries: [entryAt(1, 1)] },
    [entryAt(1, 1), entryAt(1, 2)],
  ],
])('entries are not skipped when %s', async (_name, first, second, stream) => {
  const inOrder = stream.map(({ number, n }) => [number, n]);
  const both = await followed(stream);
  both.announce(first);
  both.announce(second);
  expect(both.seen()).toEqual(inOrder);
  both.tail.stop();
  // The second announcement is lost: the entry is read from Redis.
  const one = await followed(stream);
  one.announce(first);
  await expect.poll(one.seen).toEqual(inOrder);
  one.tail.stop();
});

test('entries that are announced in order are not read from Redis', async () => {
  const { tail, announce, seen, reads } = await followed([]);
  announce({ entries: [entryAt(1, 1)] });
  announce({ entries: [entryAt(1, 2)] });
  announce({ entries: [entryAt(2, 0), entryAt(3, 0)], behind: { number: 1, n: 2 } });
  expect(seen()).toEqual([
    [1, 1],
    [1, 2],
    [2, 0],
    [3, 0],
  ]);
  expect(reads()).toBe(0);
  tail.stop();
});

const largeAt = (number: number): LogEntry => {
  const entry = entryAt(number, 0);
  const body = { content: `${'a'.repeat(100_000)}\u{1f600}` };
  return { ...entry, event: { ...entry.event, body } as unknown as LogEntry['event'] };
};

test('entries count with their memory: one emoji doubles the size of a text', async () => {
  const { tail, announce } = await followed([]);
  for (let number = 2; number < 12; number++) announce({ entries: [largeAt(number)] });
  expect(tail.bytes).toBeGreaterThan(10 * 200_000);
  tail.shrinkTo(1_000_000);
  expect(tail.bytes).toBeLessThanOrEqual(1_000_000);
  expect(tail.after(tail.floor)?.map(({ number }) => number)).toEqual([8, 9, 10, 11]);
  tail.stop();
});

test('entries that arrived early count too, and are read from Redis later if there is no room for them', async () => {
  const stream = [largeAt(2), largeAt(3)];
  const { tail, announce, seen } = await followed(stream);
  announce({ entries: [largeAt(3)] });
  expect(seen()).toEqual([]);
  expect(tail.bytes).toBeGreaterThan(200_000);
  tail.shrinkTo(0);
  expect(tail.bytes).toBe(0);
  await expect.poll(seen).toEqual([
    [2, 0],
    [3, 0],
  ]);
  tail.stop();
});
