import type { LogRedis, Verifier } from '@natter/event-log';
import type { Bus, Logger } from '@natter/service-kit';
import { afterEach, expect, test, vi } from 'vitest';
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

test('a tail that cannot start leaves no subscription behind', async () => {
  const { held, tails } = tailsOn(async () => {
    throw new Error('away');
  });
  for (let attempt = 0; attempt < 3; attempt++) await expect(tails.get(meta)).rejects.toThrow('away');
  expect(held).toEqual(nothing);
  await tails.stop();
});

test('a tail that nobody uses any more leaves nothing behind', async () => {
  vi.useFakeTimers();
  const { held, tails } = tailsOn(async () => ({ clock: 1, epoch: 1, entries: [] }));
  await tails.get(meta);
  expect(held).toEqual({ subscriptions: 1, reconnects: 1, ready: 1 });
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(held).toEqual(nothing);
  await tails.stop();
});
