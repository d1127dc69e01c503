import type { System } from '@natter/local/system';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../api.ts';
import { openSystem } from '../open-system.ts';

let system: System;
let locker: pg.Client;
let observer: pg.Client;
beforeAll(async () => {
  system = await openSystem({ gateways: 1 });
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: system.servers.postgresUrl });
    await client.connect();
    return client;
  };
  [locker, observer] = await Promise.all([connect(), connect()]);
});
afterAll(async () => {
  await Promise.all([locker?.end(), observer?.end()]);
  await system?.stop();
});

const ask = (route: string, form: Record<string, unknown>) => request(system.url, system.people.owner, route, form);

async function openQueue(idleSeconds: number): Promise<{ queue_id: string; last_event_id: number }> {
  const registered = await ask('POST /register', { event_types: ['message'], idle_queue_timeout: idleSeconds });
  const { queue_id, last_event_id } = registered.body;
  // The first poll makes the gateway compute when it has to extend the queue.
  expect((await ask('GET /events', { queue_id, last_event_id, dont_block: true })).status).toBe(200);
  return { queue_id, last_event_id };
}

/** Locks the table with a queue in it that has a short idle time. On a busy machine the shortest may expire before. */
async function lockWithShortQueue(): Promise<{ queue_id: string; last_event_id: number }> {
  for (let idleSeconds = 2; idleSeconds <= 64; idleSeconds *= 2) {
    const queue = await openQueue(idleSeconds).catch(() => undefined);
    await locker.query('BEGIN; LOCK TABLE event_queue.queue');
    const found = await locker.query('SELECT FROM event_queue.queue WHERE queue_id = $1', [queue?.queue_id]);
    if (queue && found.rowCount === 1) return queue;
    await locker.query('ROLLBACK');
  }
  throw new Error('each queue expired before the table was locked');
}

/** The statements that extend queues and wait for the lock. */
async function waitingExtensions(): Promise<string[]> {
  const { rows } = await observer.query<{ id: string }>(`
    SELECT pid || ' ' || query_start AS id FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE event_queue.queue q SET expires_at = now() + q.idle_timeout%'`);
  return rows.map(({ id }) => id);
}

describe('while the queue table is locked', () => {
  test('a held poll whose queue must be extended delivers at once', async () => {
    let isBefore = false;
    // On a busy machine the extension may reach its deadline before the message has arrived.
    for (let attempt = 0; !isBefore && attempt < 10; attempt++) {
      const queue = await openQueue(40);
      await locker.query('BEGIN; LOCK TABLE event_queue.queue');
      const polled = ask('GET /events', queue);
      await expect.poll(waitingExtensions).not.toEqual([]);
      const waiting = await waitingExtensions();
      const message = { type: 'channel', to: 'general', topic: 'locked', content: `attempt ${attempt}` };
      expect((await ask('POST /messages', message)).status).toBe(200);
      const { status, body } = await polled;
      expect([status, body.events[0].message.subject]).toEqual([200, 'locked']);
      const stillWaiting = await waitingExtensions();
      isBefore = waiting.some((id) => stillWaiting.includes(id));
      await locker.query('ROLLBACK');
    }
    expect(isBefore).toBe(true);
  });

  test('queues do not expire, however short their idle time is', async () => {
    const queue = await lockWithShortQueue();
    const hasExpired = async (): Promise<boolean> => {
      const { rows } = await locker.query(
        "SELECT expires_at < clock_timestamp() - interval '5 seconds' AS has FROM event_queue.queue WHERE queue_id = $1",
        [queue.queue_id],
      );
      return rows[0].has;
    };
    await expect.poll(hasExpired).toBe(true);
    await locker.query('COMMIT');
    expect(await ask('GET /events', { ...queue, dont_block: true })).toMatchObject({ status: 200 });
  });
});
