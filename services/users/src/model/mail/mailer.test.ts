import type { Database } from '@natter/database';
import { createLogger } from '@natter/service-kit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createKeySeal } from '../credentials/key-seal.ts';
import { createMailer } from './mailer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a mailer that closes takes no more mails while the work of requests ends', async () => {
  let taken = 0;
  const database = {
    any: async () => {
      taken++;
      return [];
    },
  } as unknown as Database;
  const mailer = createMailer({
    url: undefined,
    from: 'natter@natter.example',
    limits: { person: 1, address: 1, realm: 1 },
    seal: createKeySeal('secret'),
    log: createLogger('test', 'silent'),
    onOutcome: () => undefined,
  });
  mailer.start(database);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(taken).toBeGreaterThan(2);
  const { promise, resolve } = Promise.withResolvers<void>();
  mailer.finish(promise);
  const closed = mailer.close();
  const before = taken;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(taken).toBe(before);
  resolve();
  await closed;
});
