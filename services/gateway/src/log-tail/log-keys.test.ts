import type { LogEntry } from '@natter/contracts';
import { entryData, signEntry, signingKey } from '@natter/event-log';
import type { Bus, Logger } from '@natter/service-kit';
import { afterEach, expect, test, vi } from 'vitest';
import { createLogVerifier } from './log-keys.ts';

afterEach(() => void vi.useRealTimers());

test('keys that could not be read at the start are read again even without an unverified entry', async () => {
  vi.useFakeTimers();
  const key = Buffer.alloc(32, 1);
  let isAway = true;
  const bus = {
    call: async () => {
      if (isAway) throw new Error('away');
      return { keys: [{ source: 'messaging', key: key.toString('base64') }] };
    },
  } as unknown as Bus;
  const verifier = createLogVerifier(bus, { warn: () => undefined } as unknown as Logger);
  await vi.advanceTimersByTimeAsync(1_000);
  isAway = false;
  await vi.advanceTimersByTimeAsync(10_000);
  const event = { type: 'typing', op: 'start', body: {}, audience: { users: { ids: [] } } };
  const entry = { number: 1, n: 0, mark: 1, previousMark: 0, at: 0, event } as unknown as LogEntry;
  const data = entryData(entry);
  const signature = signEntry({ source: 'messaging', key: signingKey(key) }, 1, entry, data);
  expect(verifier.isGenuine(1, entry, data, signature)).toBe(true);
});
