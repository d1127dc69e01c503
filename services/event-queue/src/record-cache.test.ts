import type { QueueRecord } from '@natter/contracts';
import type { LogRedis } from '@natter/event-log';
import { expect, test } from 'vitest';
import { forget, remember } from './record-cache.ts';

const record = { realm_id: 1, queue_id: 'q', user_id: 7 } as QueueRecord;
const key = 'natter:{1}:queue:q';

function redisThat(refuses: { values: boolean } = { values: false }) {
  const values = new Map<string, string>();
  const redis = {
    set: async (name: string, value: string, ...options: unknown[]) => {
      if (refuses.values) throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
      if (!options.includes('NX') || !values.has(name)) values.set(name, value);
    },
    del: async (name: string) => void values.delete(name),
  };
  return { values, log: { redis } as unknown as LogRedis };
}

test('a look-up that began before a queue ended does not cache its record afterwards', async () => {
  const { values, log } = redisThat();
  await remember(log, record);
  expect(JSON.parse(values.get(key) ?? '')).toEqual(record);
  await forget(log, 1, ['q']);
  await remember(log, record);
  expect(JSON.parse(values.get(key) ?? '').user_id).toBeUndefined();
});

test('a full Redis still removes the record of a queue that ended', async () => {
  const refuses = { values: false };
  const { values, log } = redisThat(refuses);
  await remember(log, record);
  refuses.values = true;
  await forget(log, 1, ['q']);
  expect(values.has(key)).toBe(false);
});
