import type { System } from '@natter/local/system';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, request } from '../api.ts';
import { onEveryGateway } from '../every-gateway.ts';
import { metric } from '../metrics.ts';
import { openSystem } from '../open-system.ts';
import { requestOnce } from '../patience.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem();
});
afterAll(async () => {
  await system?.stop();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const ask = (method: string, path: string, form: Record<string, unknown> = {}) =>
  request(system.url, system.people.member, `${method} ${path}`, form);
const register = async (): Promise<Answer> =>
  (await ask('POST', '/register', { event_types: ['message'], fetch_event_types: [] })).body;
const poll = ({ queue_id, last_event_id }: Answer, form: Record<string, unknown> = {}) =>
  ask('GET', '/events', { queue_id, last_event_id, ...form });

/** Polls until one is held for a second; returns it and the number of polls that were answered at once. */
async function untilHeld(queue: Answer): Promise<{ held: ReturnType<typeof poll>; answeredAtOnce: number }> {
  for (let answeredAtOnce = 0; answeredAtOnce < 50; answeredAtOnce++) {
    const held = poll(queue);
    const first = await Promise.race([held, pause(1_000).then(() => 'held' as const)]);
    if (first === 'held') return { held, answeredAtOnce };
  }
  throw new Error('No poll was held');
}

/** The polls that all gateways hold. */
const heldPolls = (): Promise<number> => metric(system, 'gateway', 'natter_held_polls');

const send = async (content: string): Promise<void> => {
  const form = { type: 'channel', to: 'general', topic: 'polls', content };
  expect((await requestOnce(system.url, system.people.member, 'POST /messages', form)).status).toBe(200);
};

test('a poll is held even if an older one had a higher number when Redis lost its data', async () => {
  const queue = await register();
  for (let count = 0; count < 30; count++) await poll(queue, { dont_block: true });
  const older = poll(queue);
  await expect.poll(heldPolls).toBe(1);
  const redis = new Redis(system.servers.redisUrl);
  await redis.flushall();
  redis.disconnect();
  const { held, answeredAtOnce } = await untilHeld(queue);
  expect(answeredAtOnce).toBe(0);
  await send('after the loss');
  const contents = (await held).body.events.map((event: Answer) => event.message.content);
  expect(contents).toEqual(['after the loss']);
  await older;
});

test('a poll is held after Redis returns even if an older one began without Redis', async () => {
  const queue = await register();
  await poll(queue, { dont_block: true });
  await system.servers.redis.kill('SIGKILL');
  const older = poll(queue);
  await expect.poll(heldPolls).toBe(1);
  await system.servers.redis.start();
  await pause(1_000);
  const { held, answeredAtOnce } = await untilHeld(queue);
  expect(answeredAtOnce).toBe(0);
  await send('after the outage');
  const contents = (await held).body.events.map((event: Answer) => event.message.content);
  expect(contents).toEqual(['after the outage']);
  await older;
});

test('a deleted queue stays deleted even if Redis did not delete its record', async () => {
  const queue = await register();
  expect((await poll(queue, { dont_block: true })).body.result).toBe('success');
  const redis = new Redis(system.servers.redisUrl);
  await redis.call('ACL', 'SETUSER', 'natter-event-queue', '-set', '-del');
  const { status } = await ask('DELETE', '/events', { queue_id: queue.queue_id });
  await redis.call('ACL', 'SETUSER', 'natter-event-queue', '+set', '+del');
  await redis.call('ACL', 'LOG', 'RESET');
  redis.disconnect();
  expect(status).toBe(200);
  const { queue_id, last_event_id } = queue;
  const form = { queue_id, last_event_id, dont_block: true };
  const codes = async () => {
    const answers = await onEveryGateway(system, () =>
      request(system.url, { ...system.people.member, headers: { connection: 'close' } }, 'GET /events', form),
    );
    return [...new Set(answers.map(({ body }) => body.code))];
  };
  await expect.poll(codes).toEqual(['BAD_EVENT_QUEUE_ID']);
});
