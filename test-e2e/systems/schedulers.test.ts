import { sql } from '@natter/database';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../api.ts';
import { randomOf } from '../kills.ts';
import { openDatabase } from '../open-servers.ts';
import { openSystem } from '../open-system.ts';
import { hitSchedulers } from '../scheduler-kills.ts';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.ROUNDS ?? 5);

let system: System;
beforeAll(async () => {
  system = await openSystem({
    env: { NATTER_RETENTION_INTERVAL_SECONDS: '1' },
    replicas: { scheduler: 2 },
    ...(process.env.LINES ? { onLine: (line: string) => console.log(line) } : {}),
  });
});
afterAll(() => system?.stop());

describe(`two schedulers, killed and stopped under load (${rounds} kills, seed ${seed})`, () => {
  test('send each scheduled message exactly once', async () => {
    const report = await hitSchedulers(system, rounds, randomOf(seed));
    console.log(
      `${report.scheduled} scheduled, ${report.killed} kills, ${report.stopped} stops, in flight at each: ${report.inFlight.join(' ')}`,
    );
    expect(report.arrivals.size).toBe(report.scheduled);
    expect([...report.arrivals].filter(([, count]) => count !== 1)).toEqual([]);
    expect(Math.max(...report.inFlight)).toBeGreaterThan(0);
  });
});

test('messages older than the retention of the realm or channel are deleted, with events', async () => {
  const { owner, member } = system.people;
  const ask = async (method: string, path: string, form: Record<string, unknown>) => {
    const { status, body } = await request(system.url, owner, `${method} ${path}`, form);
    expect([status, body]).toEqual([200, expect.anything()]);
    return body;
  };
  const make = async (name: string) => {
    await ask('POST', '/users/me/subscriptions', { subscriptions: [{ name }] });
    return (await ask('GET', '/get_stream_id', { stream: name })).stream_id as number;
  };
  const [short, endless] = [await make('short memory'), await make('endless memory')];
  await ask('PATCH', `/streams/${short}`, { message_retention_days: 2 });
  await ask('PATCH', `/streams/${endless}`, { message_retention_days: 'unlimited' });
  await ask('PATCH', '/realm', { message_retention_days: 5 });
  const send = async (to: unknown, type = 'channel') =>
    (await ask('POST', '/messages', { type, to, topic: 'old times', content: 'x' })).id as number;
  const [gone, kept, alsoGone, young] = [
    await send(short),
    await send(endless),
    await send([member.user_id], 'direct'),
    await send(short),
  ];
  const queue = await ask('POST', '/register', {
    event_types: ['delete_message'],
    client_capabilities: { bulk_message_deletion: true },
  });
  const database = openDatabase(system.servers.postgresUrl, 1);
  const age = (where: ReturnType<typeof sql.fragment>, days: number) =>
    database.run(
      sql.unsafe`UPDATE messaging.message SET sent_at = now() - make_interval(days => ${days}) WHERE id <= ${alsoGone} AND ${where}`,
    );
  await age(sql.fragment`channel_id = ${short}`, 3);
  await age(sql.fragment`channel_id = ${endless}`, 30);
  await age(sql.fragment`channel_id IS NULL`, 6);
  // A message that cannot be deleted, because its channel does not exist, is the first that retention finds.
  await database.run(sql.unsafe`
    INSERT INTO messaging.message (realm_id, id, sender_id, channel_id, sent_channel_id, topic, content, rendered_content, client, sent_at)
    SELECT realm_id, 1, sender_id, 0, 0, topic, content, rendered_content, client, now() - interval '30 days'
    FROM messaging.message WHERE id = ${gone}`);
  await database.close();
  const deletions: Record<string, unknown>[] = [];
  let last = queue.last_event_id;
  const ids = () => deletions.flatMap((event) => event.message_ids as number[]);
  for (const end = Date.now() + 120_000; !(ids().includes(gone) && ids().includes(alsoGone)) && Date.now() < end; ) {
    const { events } = await ask('GET', '/events', { queue_id: queue.queue_id, last_event_id: last, dont_block: true });
    for (const event of events) {
      last = Math.max(last, event.id);
      if (event.type === 'delete_message') deletions.push(event);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(deletions).toContainEqual(
    expect.objectContaining({ message_type: 'stream', stream_id: short, topic: 'old times', message_ids: [gone] }),
  );
  const direct = deletions.filter((event) => event.message_type === 'private');
  expect(direct.flatMap((event) => event.message_ids)).toContain(alsoGone);
  expect(ids()).not.toContain(kept);
  expect(ids()).not.toContain(young);
  for (const id of [kept, young]) await ask('GET', `/messages/${id}/history`, {});
});
