import type { System } from '@natter/local/system';
import { redisRefusals } from '@natter/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../api.ts';
import { killEveryServer, killEveryService, randomOf } from '../kills.ts';
import { openSystem } from '../open-system.ts';
import { requestOnce } from '../patience.ts';
import { zulip } from '../stock-zulip.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem({ replicas: 2 });
});
afterAll(async () => {
  const refusals = await redisRefusals(system.servers.redisUrl).catch(() => []);
  await system?.stop();
  expect(refusals).toEqual([]);
});

const post = (
  who: keyof System['people'],
  path: string,
  form: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) => request(system.url, { ...system.people[who], headers }, `POST ${path}`, form);
const get = (who: keyof System['people'], path: string, form: Record<string, unknown> = {}) =>
  request(system.url, system.people[who], `GET ${path}`, form);

describe('a stock client', () => {
  test('logs in with a password, registers, sends and receives', async () => {
    const { member } = system.people;
    const client = await zulip({ username: member.email, password: member.password, realm: system.url });
    const queue = await client.queues.register({ event_types: ['message'] });
    expect(queue.result).toBe('success');
    const sent = await client.messages.send({
      type: 'stream',
      to: 'general',
      topic: 'stock',
      content: 'from a stock client',
    });
    expect(sent.result).toBe('success');
    const { events } = (await client.events.retrieve({
      queue_id: queue.queue_id,
      last_event_id: queue.last_event_id,
    })) as unknown as {
      events: { type: string; message: { id: number; content: string } }[];
    };
    expect(events.map((event) => [event.type, event.message.id, event.message.content])).toEqual([
      ['message', sent.id, 'from a stock client'],
    ]);
  });
});

describe('for messages', () => {
  test('a retry with the same idempotency key returns the same message, even simultaneously', async () => {
    const form = { type: 'channel', to: 'general', topic: 'retry', content: 'once' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        post('member', '/messages', form, { 'idempotency-key': 'same', connection: 'close' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const other = await post('member', '/messages', { ...form, content: 'twice' }, { 'idempotency-key': 'same' });
    expect(other.status).toBe(422);
  });

  test('unknown parameters are listed in the response', async () => {
    const { body } = await post('member', '/messages', {
      type: 'channel',
      to: 'general',
      topic: 't',
      content: 'c',
      stray: '1',
    });
    expect(body.ignored_parameters_unsupported).toEqual(['stray']);
  });

  test('a private channel responds to a non-subscriber like a channel that does not exist', async () => {
    await post('member', '/users/me/subscriptions', { subscriptions: [{ name: 'hidden' }], invite_only: true });
    const hidden = await post('member2', '/messages', { type: 'channel', to: 'hidden', topic: 't', content: 'c' });
    const absent = await post('member2', '/messages', { type: 'channel', to: 'absent', topic: 't', content: 'c' });
    expect(hidden.body).toEqual({ ...absent.body, msg: absent.body.msg.replace('absent', 'hidden'), stream: 'hidden' });
    expect(hidden.body.code).toBe('STREAM_DOES_NOT_EXIST');
  });

  test('a former subscriber does not receive messages sent after the response to the unsubscribe', async () => {
    const { body: queue } = await post('member2', '/register', { event_types: ['message'] });
    await request(system.url, system.people.member2, 'DELETE /users/me/subscriptions', {
      subscriptions: ['sandbox'],
    });
    await post('member', '/messages', {
      type: 'channel',
      to: 'sandbox',
      topic: 't',
      content: 'not for former subscribers',
    });
    const { body: marker } = await post('member', '/messages', {
      type: 'channel',
      to: 'general',
      topic: 't',
      content: 'marker',
    });
    const { body } = await get('member2', '/events', { queue_id: queue.queue_id, last_event_id: -1 });
    expect(body.events.map((event: { message: { id: number } }) => event.message.id)).toEqual([marker.id]);
  });

  test('a deactivated user is refused at once', async () => {
    const { administrator, member } = system.people;
    const { body: created } = await requestOnce(system.url, administrator, 'POST /users', {
      email: 'leaver@natter.example',
      password: 'leaver-password',
      full_name: 'Lea Leaver',
    });
    const { body: login } = await requestOnce(system.url, member, 'POST /fetch_api_key', {
      username: 'leaver@natter.example',
      password: 'leaver-password',
    });
    const leaver = { email: 'leaver@natter.example', api_key: login.api_key as string };
    expect((await request(system.url, leaver, 'GET /users/me')).status).toBe(200);
    await request(system.url, administrator, `DELETE /users/${created.user_id}`);
    const refused = await request(system.url, leaver, 'POST /users/me/subscriptions', {
      subscriptions: [{ name: 'general' }],
    });
    expect(refused.status).toBe(401);
  });
});

describe('an event queue', () => {
  test('of another user responds like an unknown queue', async () => {
    const { body: queue } = await post('member', '/register', { event_types: ['message'] });
    const foreign = await get('member2', '/events', { queue_id: queue.queue_id, last_event_id: -1, dont_block: true });
    expect(foreign.body).toMatchObject({ code: 'BAD_EVENT_QUEUE_ID', queue_id: queue.queue_id });
  });

  test('returns the same ids again for an older cursor', async () => {
    const { body: queue } = await post('member', '/register', { event_types: ['message'] });
    await post('member2', '/messages', { type: 'direct', to: [system.people.member.user_id], content: 'again' });
    const poll = (last: number) =>
      get('member', '/events', { queue_id: queue.queue_id, last_event_id: last, dont_block: true });
    const first = await get('member', '/events', { queue_id: queue.queue_id, last_event_id: -1 });
    expect(first.body.events).toHaveLength(1);
    expect((await poll(first.body.events[0].id)).body.events).toEqual([]);
    expect((await poll(-1)).body.events).toEqual(first.body.events);
  });

  test('does not exist after it is deleted', async () => {
    const { body: queue } = await post('member', '/register', { event_types: ['message'] });
    const remove = () => request(system.url, system.people.member, 'DELETE /events', { queue_id: queue.queue_id });
    expect((await remove()).status).toBe(200);
    expect((await remove()).body.code).toBe('BAD_EVENT_QUEUE_ID');
    expect((await get('member', '/events', { queue_id: queue.queue_id, last_event_id: -1 })).body.code).toBe(
      'BAD_EVENT_QUEUE_ID',
    );
  });
});

describe('acknowledged messages are not lost, duplicated or reordered, and queues survive', () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = randomOf(seed);

  test(`when any service process is killed (seed ${seed})`, async () => {
    const report = await killEveryService(system, 20, 2, random);
    console.log(
      `services: ${report.acknowledged} acknowledged, in flight at each kill ${report.inFlightAtDisturbances.join(' ')}`,
    );
    expect(report.problems).toEqual([]);
    expect(Math.max(...report.inFlightAtDisturbances)).toBeGreaterThan(0);
  });

  test(`when Redis, NATS and Postgres are killed and restarted (seed ${seed})`, async () => {
    const report = await killEveryServer(system, 20, random);
    console.log(
      `servers: ${report.acknowledged} acknowledged, in flight at each kill ${report.inFlightAtDisturbances.join(' ')}`,
    );
    expect(report.problems).toEqual([]);
    expect(Math.max(...report.inFlightAtDisturbances)).toBeGreaterThan(0);
  });
});
