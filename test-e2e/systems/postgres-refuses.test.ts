import { randomUUID } from 'node:crypto';
import type { System } from '@natter/local/system';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { authorizationOf, request } from '../api.ts';
import { openSystem } from '../open-system.ts';
import { beforeDue } from '../tests/scheduled-messages/soon.ts';

let system: System;
let admin: pg.Client;
beforeAll(async () => {
  system = await openSystem();
  admin = new pg.Client({ connectionString: system.servers.postgresUrl });
  await admin.connect();
});
afterEach(() => readOnly(false));
afterAll(async () => {
  await admin?.end();
  await system?.stop();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function readOnly(isOn: boolean): Promise<void> {
  await admin.query('SET default_transaction_read_only = off');
  await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${isOn ? 'on' : 'off'}`);
  await admin.query('SELECT pg_reload_conf()');
  const isSet = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: system.servers.postgresUrl });
    await client.connect();
    const { rows } = await client.query('SHOW default_transaction_read_only').finally(() => client.end());
    return rows[0].default_transaction_read_only === (isOn ? 'on' : 'off');
  };
  await expect.poll(isSet).toBe(true);
}

type Write = [path: string, form: Record<string, unknown>];
/** One write of each of several services. */
const writesOf = (name: string): Write[] => [
  ['/messages', { type: 'channel', to: 'general', topic: name, content: name }],
  ['/drafts', { drafts: [{ type: 'private', to: [], topic: '', content: name, timestamp: 1 }] }],
  ['/saved_snippets', { title: name, content: name }],
  ['/users/me/subscriptions', { subscriptions: [{ name }] }],
  ['/register', { event_types: ['message'], fetch_event_types: [] }],
];

const post = (path: string, form: Record<string, unknown>, headers: Record<string, string> = {}) =>
  request(system.url, { ...system.people.owner, headers }, `POST ${path}`, form);

const read = (topic: string) =>
  request(system.url, system.people.owner, 'GET /messages', {
    anchor: 'newest',
    num_before: 1_000,
    num_after: 0,
    apply_markdown: false,
    narrow: [{ operator: 'topic', operand: topic }],
  });

const contentsOf = async (topic: string): Promise<string[]> =>
  (await read(topic)).body.messages.map((message: { content: string }) => message.content);

test('writes wait while PostgreSQL is read-only for a moment, and are done once', async () => {
  let refusals = 0;
  /** Like a client that repeats what is refused, under the same key. */
  const untilDone = async ([path, form]: Write): Promise<void> => {
    for (const headers = { 'idempotency-key': randomUUID() }; ; await pause(500)) {
      const { status, body } = await post(path, form, headers);
      if (status === 200) return;
      expect([status, body.code], path).toEqual([503, 'SERVICE_UNAVAILABLE']);
      refusals++;
    }
  };
  /** How many of six writes of each kind were refused, on average. */
  const attempt = async (name: string): Promise<number> => {
    refusals = 0;
    await readOnly(true);
    const rounds = Array.from({ length: 6 }, (_, round) => writesOf(`${name} ${round}`));
    const writing = rounds.flat().map(untilDone);
    await pause(700);
    await readOnly(false);
    await Promise.all(writing);
    console.log(`${writing.length} writes, ${refusals} refusals`);
    for (const round of rounds.keys()) expect(await contentsOf(`${name} ${round}`)).toEqual([`${name} ${round}`]);
    return refusals / writing.length;
  };
  // On a busy machine the moment may be longer than a write waits. Without waiting all are refused in each attempt.
  const shares: number[] = [];
  while (shares.length < 5 && !((shares.at(-1) ?? 1) < 1)) shares.push(await attempt(`waiting ${shares.length}`));
  expect(shares.at(-1)).toBeLessThan(1);
});

test('writes are refused if PostgreSQL stays read-only, and reads continue', async () => {
  await readOnly(true);
  const authorization = authorizationOf(system.people.owner);
  const answers = Array.from({ length: 100 }, async (_, count) => {
    const body = new URLSearchParams({ type: 'channel', to: 'general', topic: 'refused', content: `refused ${count}` });
    const response = await fetch(`${system.url}/api/v1/messages`, { method: 'POST', headers: { authorization }, body });
    return [response.status, Number(response.headers.get('retry-after')) > 0];
  });
  for (let count = 0; count < 3; count++) expect((await read('waiting 0 0')).status).toBe(200);
  for (const answer of answers) expect(await answer).toEqual([503, true]);
  await readOnly(false);
  expect((await post('/messages', { type: 'channel', to: 'general', topic: 'refused', content: 'later' })).status).toBe(
    200,
  );
  expect(await contentsOf('refused')).toEqual(['later']);
});

test('scheduled messages are sent in order even if PostgreSQL is read-only when the first one is due', async () => {
  const found = await request(system.url, system.people.owner, 'GET /get_stream_id', { stream: 'general' });
  const channel = found.body.stream_id;
  const schedule = async (topic: string, content: string, at: number): Promise<void> => {
    const form = { type: 'channel', to: channel, topic, content, scheduled_delivery_timestamp: at };
    const { status, body } = await post('/scheduled_messages', form);
    if (status !== 200) throw new Error(body.msg);
  };
  const { firstAt, topic } = await beforeDue(async (at) => {
    const made = { firstAt: at, topic: `scheduled at ${at}` };
    await schedule(made.topic, 'first', at);
    await schedule(made.topic, 'second', at + 4);
    return made;
  }, 10);
  await readOnly(true);
  await pause(firstAt * 1000 + 1_500 - Date.now());
  await readOnly(false);
  await expect.poll(() => contentsOf(topic)).toEqual(['first', 'second']);
});

test('a password link is confirmed only after the request is stored, with or without an account', async () => {
  const { email } = system.people.member;
  const ask = async (address: string): Promise<number> => {
    const body = new URLSearchParams({ email: address });
    return (await fetch(`${system.url}/accounts/password/reset`, { method: 'POST', body })).status;
  };
  const linksOfMember = async (): Promise<number> => {
    const of = "SELECT FROM users.confirmation WHERE kind = 'password' AND email = $1";
    return (await admin.query(of, [email])).rows.length;
  };
  await readOnly(true);
  expect(await Promise.all([ask(email), ask('nobody@natter.example')])).toEqual([503, 503]);
  await readOnly(false);
  expect(await Promise.all([ask(email), ask('nobody@natter.example')])).toEqual([200, 200]);
  await expect.poll(linksOfMember).toBe(1);
});
