import type { Child } from '@natter/local/child';
import type { System } from '@natter/local/system';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, request } from '../api.ts';
import { openSystem } from '../open-system.ts';

let system: System;
let postgres: pg.Client;
beforeAll(async () => {
  system = await openSystem();
  postgres = new pg.Client({ connectionString: system.servers.postgresUrl });
  await postgres.connect();
});
afterAll(async () => {
  await postgres?.end();
  await system?.stop();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const ask = (method: string, path: string, form: Record<string, unknown> = {}) =>
  request(system.url, system.people.member, `${method} ${path}`, form);
/** A queue that ends when it is not polled for 10 seconds: a request of a busy test may take some of them. */
const register = async (): Promise<Answer> => {
  const form = { event_types: ['message'], fetch_event_types: [], idle_queue_timeout: 10 };
  return (await ask('POST', '/register', form)).body;
};
const poll = ({ queue_id, last_event_id }: Answer) =>
  ask('GET', '/events', { queue_id, last_event_id, dont_block: true });
const users = (): Child[] => system.children.filter(({ program }) => program === 'users');
const gateways = (): Child[] => system.children.filter(({ program }) => program === 'gateway');

/** Kills these processes, and whatever replaces them, until `work` is done. */
async function without(victims: readonly Child[], work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const killing = (async () => {
    while (!isOver) {
      for (const child of victims) child.kill('SIGKILL');
      await pause(20);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await killing;
  }
}

/** Waits until all of these run again. On a busy machine, one start may take longer than the life of a queue. */
async function areBack(victims: readonly Child[]): Promise<void> {
  for (const child of victims)
    await expect
      .poll(() =>
        child.ready().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
}

/** Waits until the query returns one row. */
const untilRow = (text: string, values: unknown[]) =>
  expect.poll(async () => (await postgres.query(text, values)).rowCount).toBe(1);

test('a queue survives while all gateways are down, even if event-queue restarts meanwhile', async () => {
  const queue = await register();
  expect((await poll(queue)).status).toBe(200);
  await without(gateways(), async () => {
    // Beyond its idle time, the grace of an unnoticed outage, and the time at which it would be deleted.
    await untilRow(`SELECT FROM event_queue.queue WHERE queue_id = $1 AND expires_at < now() - interval '14 s'`, [
      queue.queue_id,
    ]);
    const restarted = system.children.filter(({ program }) => program === 'event-queue');
    for (const child of restarted) {
      const before = child.pid();
      child.kill('SIGKILL');
      await expect.poll(() => child.pid()).not.toBe(before);
      await child.ready();
    }
    await pause(3_000);
  });
  await expect.poll(async () => (await poll(queue)).status).toBe(200);
  await areBack(gateways());
});

test('a queue survives while users, which authenticates polls, is down', async () => {
  const queue = await register();
  expect((await poll(queue)).status).toBe(200);
  await without(users(), async () => {
    await untilRow(`SELECT FROM event_queue.queue WHERE queue_id = $1 AND expires_at < now() - interval '14 s'`, [
      queue.queue_id,
    ]);
    await pause(3_000);
  });
  await expect.poll(async () => (await poll(queue)).status).toBe(200);
  await areBack(users());
});

test('a queue that is not polled expires while one of two gateways is down', async () => {
  const queue = await register();
  await without(gateways().slice(1), () =>
    untilRow(`SELECT WHERE NOT EXISTS (SELECT FROM event_queue.queue WHERE queue_id = $1)`, [queue.queue_id]),
  );
  await areBack(gateways());
  expect(await poll(queue)).toMatchObject({ status: 400, body: { code: 'BAD_EVENT_QUEUE_ID' } });
});
