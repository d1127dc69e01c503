import type { System } from '@natter/local/system';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Credentials, request } from '../api.ts';
import { createBot } from '../create-bot.ts';
import { openSystem } from '../open-system.ts';
import { untilServed } from '../patience.ts';

const queuesPerUser = 12;
let system: System;
let postgres: pg.Pool;
let redis: Redis;
beforeAll(async () => {
  system = await openSystem({ env: { NATTER_QUEUES_PER_USER: String(queuesPerUser) } });
  postgres = new pg.Pool({ connectionString: system.servers.postgresUrl, max: 2 });
  postgres.on('error', () => undefined);
  redis = new Redis(system.servers.redisUrl);
});
afterAll(async () => {
  redis?.disconnect();
  await postgres?.end();
  await system?.stop();
});

type Name = keyof System['people'];
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const ask = (who: Name, method: string, path: string, form: Record<string, unknown> = {}) =>
  request(system.url, system.people[who], `${method} ${path}`, form);
const register = (who: Name, form: Record<string, unknown> = {}) =>
  ask(who, 'POST', '/register', { event_types: ['message'], fetch_event_types: [], ...form });
const look = (who: Name, { queue_id, last_event_id }: Answer) =>
  ask(who, 'GET', '/events', { queue_id, last_event_id, dont_block: true });

describe('under the limits', () => {
  test('a user has a bounded number of queues, and deleting one makes room', async () => {
    const made: Answer[] = [];
    for (let count = 0; count < queuesPerUser; count++) made.push((await register('member2')).body);
    expect(made.map((queue) => queue.result)).toEqual(made.map(() => 'success'));
    const over = await register('member2');
    expect([over.status, over.body.code, over.body.result]).toEqual([429, 'RATE_LIMIT_HIT', 'error']);
    expect(over.body['retry-after']).toBeGreaterThan(0);
    expect((await register('moderator')).status).toBe(200);
    expect((await ask('member2', 'DELETE', '/events', { queue_id: made[0]?.queue_id })).status).toBe(200);
    expect((await register('member2')).status).toBe(200);
    // All other queues still exist.
    for (const queue of made.slice(1)) expect((await look('member2', queue)).status).toBe(200);
  });

  test('all bots of one owner together have at most as many queues as five users', async () => {
    const { moderator, guest, member } = system.people;
    const registerAs = (who: Credentials) =>
      request(system.url, who, 'POST /register', { event_types: ['message'], fetch_event_types: [] });
    const bots: Credentials[] = [];
    for (let count = 0; count < 6; count++) bots.push(await createBot(system.url, moderator, `follower${count}`));
    const other = await createBot(system.url, member, 'other');
    const [last, ...full] = bots;
    if (!last || !full[0]) throw new Error('no bots');
    // Of one bot after the other, because simultaneous registers do not count each other.
    const queues: Answer[] = [];
    for (const bot of full)
      for (let count = 0; count < queuesPerUser; count++) queues.push((await registerAs(bot)).body);
    expect(queues.map((queue) => queue.result)).toEqual(queues.map(() => 'success'));
    const over = await registerAs(last);
    expect([over.status, over.body.code, over.body.msg]).toEqual([429, 'RATE_LIMIT_HIT', 'Too many event queues']);
    for (const who of [moderator, guest, other]) expect((await registerAs(who)).status).toBe(200);
    const ended = await request(system.url, full[0], 'DELETE /events', { queue_id: queues[0]?.queue_id });
    expect(ended.status).toBe(200);
    expect((await registerAs(last)).status).toBe(200);
    expect((await registerAs(last)).status).toBe(429);
  });

  test('some of many simultaneous registers of one user return 429, and other users are not affected', async () => {
    const all = { event_types: null, fetch_event_types: null };
    const [many, other] = await Promise.all([
      Promise.all(Array.from({ length: 40 }, () => untilServed(() => register('administrator', all)))),
      untilServed(() => register('owner', all)),
    ]);
    const refused = many.filter(({ status }) => status === 429);
    expect(other.status).toBe(200);
    expect(many.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(many.every(({ status }) => status === 200 || status === 429)).toBe(true);
    expect(refused.map(({ body }) => body.msg)).toContain('Too many registrations at once');
    expect(refused.every(({ body }) => body.code === 'RATE_LIMIT_HIT' && body['retry-after'] > 0)).toBe(true);
  });
});

describe('after an outage', () => {
  test('a polled queue is extended by the length of the outage, and an unused one expires', async () => {
    const attempt = async (seconds: number) => {
      const short = { queue_lifespan_secs: seconds };
      const [polled, left] = [(await register('member', short)).body, (await register('member', short)).body];
      await system.servers.postgres.kill('SIGKILL');
      // Longer than the queues live without being polled, including the 3 s of an unnoticed outage.
      await pause(1_000 * (seconds + 5));
      await system.servers.postgres.start();
      let answer: Answer = {};
      const isDecided = async (): Promise<boolean> => {
        answer = (await look('member', polled)).body;
        return answer.result === 'success' || answer.code === 'BAD_EVENT_QUEUE_ID';
      };
      await expect.poll(isDecided).toBe(true);
      return { left, result: answer.result };
    };
    // On a busy machine short queues may end before the outage or after it. Without a longer life all end in each attempt.
    let seconds = 8;
    let { left, result } = await attempt(seconds);
    while (result !== 'success' && seconds < 60) {
      seconds *= 2;
      ({ left, result } = await attempt(seconds));
    }
    expect(result).toBe('success');
    const living = async (): Promise<number> => {
      const { rows } = await postgres.query('SELECT 1 FROM event_queue.queue WHERE queue_id = $1', [left.queue_id]);
      return rows.length;
    };
    await expect.poll(living, { interval: 500 }).toBe(0);
    expect((await look('member', left)).body).toMatchObject({ code: 'BAD_EVENT_QUEUE_ID', queue_id: left.queue_id });
  });
});

test('a stream with a modified end is rebuilt from the record, and queues continue', async () => {
  const queue = (await register('member')).body;
  const { rows } = await postgres.query('SELECT realm_id FROM event_queue.queue WHERE queue_id = $1', [queue.queue_id]);
  const content = { type: 'channel', to: 'general', topic: 'history' };
  await redis.hset(`natter:{${rows[0].realm_id}}:log-meta`, 'mark', '1');
  for (const text of ['one', 'two'])
    expect((await ask('owner', 'POST', '/messages', { ...content, content: text })).status).toBe(200);
  const seen: string[] = [];
  let { last_event_id } = queue;
  const follow = async (): Promise<string[]> => {
    const { status, body } = await ask('member', 'GET', '/events', { queue_id: queue.queue_id, last_event_id });
    expect(status).toBe(200);
    for (const event of body.events) {
      last_event_id = event.id;
      if (event.type === 'message') seen.push(event.message.content);
    }
    return seen;
  };
  await expect.poll(follow).toEqual(['one', 'two']);
});

test('presence of the last fourteen days survives a wipe of Redis, and older presence is returned on request', async () => {
  const { member, guest } = system.people;
  const old = { member: 13, guest: 15 };
  const now = Math.floor(Date.now() / 1000);
  const at = (days: number): number => now - days * 86_400;
  for (const who of ['member', 'guest'] as const) {
    expect((await ask(who, 'POST', '/users/me/presence', { status: 'active' })).status).toBe(200);
    const update = async (): Promise<number> =>
      (
        await postgres.query(
          'UPDATE presence.presence SET active_at = $2, connected_at = $2 WHERE user_id = $1 RETURNING 1',
          [system.people[who].user_id, at(old[who])],
        )
      ).rows.length;
    await expect.poll(update).toBe(1);
  }
  await redis.flushall();
  const { body } = await ask('owner', 'GET', '/realm/presence');
  expect(body.presences[member.email].website).toMatchObject({ status: 'idle', timestamp: at(13) });
  expect(body.presences[guest.email]).toBeUndefined();
  const wanted = { event_types: ['presence'], fetch_event_types: ['presence'], slim_presence: true };
  const state = (await ask('owner', 'POST', '/register', { ...wanted, presence_history_limit_days: 30 })).body;
  expect(state.presences[member.user_id]).toEqual({ active_timestamp: at(13), idle_timestamp: at(13) });
  expect(state.presences[guest.user_id]).toEqual({ active_timestamp: at(15), idle_timestamp: at(15) });
  const usual = (await ask('owner', 'POST', '/register', wanted)).body;
  expect([usual.presences[member.user_id]?.active_timestamp, usual.presences[guest.user_id]]).toEqual([
    at(13),
    undefined,
  ]);
  // Ids continue after the assigned ones.
  const next = await ask('member', 'POST', '/users/me/presence', { status: 'active', last_update_id: -1 });
  expect(next.body.presence_last_update_id).toBeGreaterThan(state.presence_last_update_id);
});
