import type { System } from '@natter/local/system';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import { openSystem } from '../open-system.ts';

const maxBytes = 1024 * 1024;
let system: System;
let redis: Redis;
beforeAll(async () => {
  system = await openSystem({ env: { NATTER_LOG_REDIS_MIB: '1', NATTER_LOG_MEMORY_MIB: '1' } });
  redis = new Redis(system.servers.redisUrl);
});
afterAll(async () => {
  redis?.disconnect();
  await system?.stop();
});

const ask = (method: string, path: string, form: Record<string, unknown>) =>
  request(system.url, system.people.member, `${method} ${path}`, form);
/** Its HTML is about 20 times as long as the text. */
const large = ':cat: '.repeat(1_500);

async function streamSize(): Promise<{ bytes: number; entries: number }> {
  const [key = ''] = await redis.keys('natter:{*}:log');
  const entries = await redis.xrange(key, '-', '+');
  return { bytes: entries.flatMap(([, fields]) => fields).join('').length, entries: entries.length };
}

test('the log of large messages stays below its bound in Redis, and an old queue gets each event once in order', async () => {
  const { queue_id } = (await ask('POST', '/register', { event_types: ['message'], apply_markdown: true })).body;
  const ids: number[] = [];
  let written = 0;
  for (let count = 0; count < 40; count++) {
    const form = { type: 'channel', to: 'general', topic: 'large', content: `${count} ${large}` };
    const { status, body } = await ask('POST', '/messages', form);
    expect(status).toBe(200);
    ids.push(body.id);
    const { bytes } = await streamSize();
    expect(bytes).toBeLessThan(maxBytes);
    written = Math.max(written, bytes);
  }
  expect(written).toBeGreaterThan(maxBytes / 2);
  expect((await streamSize()).entries).toBeLessThan(ids.length);

  const received: number[] = [];
  let last = -1;
  let rendered = 0;
  while (received.length < ids.length) {
    const { status, body } = await ask('GET', '/events', { queue_id, last_event_id: last });
    expect(status).toBe(200);
    for (const event of body.events) {
      expect(event.type).toBe('message');
      received.push(event.message.id);
      rendered += event.message.content.length;
      last = event.id;
    }
  }
  expect(received).toEqual(ids);
  expect(rendered).toBeGreaterThan(3 * maxBytes);
  const after = await ask('GET', '/events', { queue_id, last_event_id: last, dont_block: true });
  expect(after.body.events).toEqual([]);
});
