import { randomUUID } from 'node:crypto';
import type { System } from '@natter/local/system';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import { openSystem } from '../open-system.ts';

let system: System;
let admin: pg.Client;
beforeAll(async () => {
  system = await openSystem();
  admin = new pg.Client({ connectionString: system.servers.postgresUrl });
  await admin.connect();
});
afterEach(() => requireStandby(false));
afterAll(async () => {
  await admin?.end();
  await system?.stop();
});

/** Requires a standby that does not exist, so that no commit is confirmed; or removes the requirement. */
async function requireStandby(isRequired: boolean): Promise<void> {
  await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${isRequired ? 'nobody' : ''}'`);
  await admin.query('SELECT pg_reload_conf()');
  await expect.poll(isCommitStuck).toBe(isRequired);
}

async function isCommitStuck(): Promise<boolean> {
  const client = new pg.Client({ connectionString: system.servers.postgresUrl });
  await client.connect();
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const { pid } = rows[0];
  let isDone = false;
  const commit = client.query("SELECT pg_logical_emit_message(true, 'test', 'test')").then(() => {
    isDone = true;
  });
  const waits = async (): Promise<boolean> =>
    (await admin.query("SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'", [pid])).rowCount === 1;
  let isStuck = false;
  while (!isDone && !isStuck) isStuck = await waits();
  if (isStuck) await admin.query('SELECT pg_cancel_backend($1)', [pid]);
  await commit;
  await client.end();
  return isStuck;
}

const as = (key: string, path: string, form: Record<string, unknown>) =>
  request(system.url, { ...system.people.owner, headers: { 'idempotency-key': key } }, `POST ${path}`, form);

test('a write that no standby has confirmed is not acknowledged, not even when it is repeated, and is done once', async () => {
  const topic = 'unconfirmed';
  const title = 'Unconfirmed';
  const writes: [string, string, Record<string, unknown>][] = [
    [randomUUID(), '/messages', { type: 'channel', to: 'general', topic, content: 'once' }],
    [randomUUID(), '/saved_snippets', { title, content: 'once' }],
  ];
  const statuses = async () => (await Promise.all(writes.map((write) => as(...write)))).map(({ status }) => status);
  await requireStandby(true);
  expect(await statuses()).toEqual([503, 503]);
  expect(await statuses()).toEqual([503, 503]);
  await requireStandby(false);
  expect(await statuses()).toEqual([200, 200]);
  const narrow = [{ operator: 'topic', operand: topic }];
  const found = { anchor: 'newest', num_before: 100, num_after: 0, apply_markdown: false, narrow };
  const { body } = await request(system.url, system.people.owner, 'GET /messages', found);
  expect(body.messages.map(({ content }: { content: string }) => content)).toEqual(['once']);
  const kept = await request(system.url, system.people.owner, 'GET /saved_snippets', {});
  expect(kept.body.saved_snippets.map((one: { title: string }) => one.title)).toEqual([title]);
});
