import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '@natter/local/system';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../api.ts';

let system: System;
let operator: Redis;
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-test-'));
  system = await startSystem({
    dataDir,
    env: { ...process.env, NATTER_RATE_LIMIT: '1000000' },
    log: () => undefined,
  });
  operator = new Redis(system.servers.redisUrl);
  operator.on('error', () => undefined);
});
afterAll(async () => {
  operator?.disconnect();
  await system?.stop();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const redis = () => system.servers.redis;

/** Each way in which Redis can refuse to serve, and how it serves again. */
const faults = {
  gone: { begin: () => redis().kill('SIGKILL'), end: () => redis().start() },
  paused: { begin: () => redis().kill('SIGSTOP'), end: () => redis().kill('SIGCONT') },
  'out of memory': {
    begin: () => operator.config('SET', 'maxmemory', '1'),
    end: () => operator.config('SET', 'maxmemory', '0'),
  },
  'read-only': {
    begin: () => operator.replicaof('127.0.0.1', '1'),
    end: () => operator.replicaof('NO', 'ONE'),
  },
} satisfies Record<string, { begin: () => Promise<unknown>; end: () => Promise<unknown> }>;

/** People who were not present before. */
const newcomers = {
  gone: 'owner',
  paused: 'administrator',
  'out of memory': 'moderator',
  'read-only': 'guest',
} as const;

describe.each(Object.keys(faults) as (keyof typeof faults)[])('with Redis %s', (name) => {
  const ask = (method: string, path: string, form: Record<string, unknown> = {}, who = system.people.member) =>
    request(system.url, who, method, path, form);
  const presenceOf = async (userId: number): Promise<number | undefined> => {
    const { body } = await ask('POST', '/users/me/presence', { status: 'active', last_update_id: -1 });
    return body.presences?.[String(userId)]?.active_timestamp;
  };

  const queue = { queue_id: '', last_event_id: -1 };

  beforeAll(async () => {
    await ask('POST', '/users/me/presence', { status: 'active' });
    const { body } = await ask('POST', '/register', { event_types: ['message'] });
    queue.queue_id = body.queue_id;
    // The gateway follows the log before the fault begins.
    await ask('GET', '/events', { ...queue, dont_block: true });
    await faults[name].begin();
  });
  afterAll(async () => {
    await faults[name].end();
    // The next fault begins with all services connected.
    await pause(1_500);
  });

  test('messages are delivered in order, whatever their size', async () => {
    const contents = [`first ${name}`, `${name} ${'\u00e9'.repeat(9_900)}`, `last ${name}`];
    const received: string[] = [];
    const sending = (async () => {
      for (const content of contents)
        await ask('POST', '/messages', { type: 'channel', to: 'general', topic: 'redis', content });
    })();
    while (received.length < contents.length) {
      const { body } = await ask('GET', '/events', queue);
      for (const event of body.events) {
        // Held until a heartbeat, a poll would have missed something.
        expect(event.type).toBe('message');
        received.push(event.message.content);
        queue.last_event_id = event.id;
      }
    }
    await sending;
    expect(received.map((html) => html.replace(/<[^>]*>/g, ''))).toEqual(contents);
  });

  test('requests of every kind are answered', async () => {
    const requests: [string, string, Record<string, unknown>?][] = [
      ['POST', '/messages', { type: 'channel', to: 'general', topic: 'redis', content: name }],
      ['POST', '/register'],
      ['POST', '/users/me/presence', { status: 'active' }],
      ['GET', '/realm/presence'],
      ['GET', `/users/${system.people.member.user_id}/presence`],
      ['POST', '/typing', { type: 'direct', op: 'start', to: [system.people.member2.user_id] }],
      ['GET', '/messages', { anchor: 'newest', num_before: 1, num_after: 0 }],
      ['PATCH', '/settings', { twenty_four_hour_time: true }],
    ];
    const answers = [];
    for (const [method, path, form] of requests) answers.push([path, (await ask(method, path, form)).status]);
    expect(answers).toEqual(requests.map(([, path]) => [path, 200]));
  });

  test('a person who comes is shown as present', async () => {
    const { user_id } = system.people[newcomers[name]];
    expect(await presenceOf(user_id)).toBeUndefined();
    expect((await ask('POST', '/users/me/presence', { status: 'active' }, system.people[newcomers[name]])).status).toBe(
      200,
    );
    expect(await presenceOf(user_id)).toBeGreaterThan(Date.now() / 1000 - 60);
  });
});
