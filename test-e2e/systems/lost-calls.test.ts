import { randomUUID } from 'node:crypto';
import { connect, type Msg } from '@nats-io/transport-node';
import { userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import type { System } from '@natter/local/system';
import { connectBus, createLogger, createMetrics } from '@natter/service-kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { authorizationOf, type Credentials, request } from '../api.ts';
import { randomOf } from '../kills.ts';
import { openDatabase } from '../open-servers.ts';
import { openSystem } from '../open-system.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem({ replicas: 2 });
});
afterAll(() => system?.stop());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));

interface Report {
  sent: number;
  failures: string[];
  longestMs: number;
  inFlight: number[];
}

/** Writes and reads of many clients, without keys and without retries, while `disturb` injects faults. */
async function under(topic: string, disturb: (tick: () => void) => Promise<void>): Promise<Report> {
  const people = Object.values(system.people).slice(0, 4) as Credentials[];
  const report: Report = { sent: 0, failures: [], longestMs: 0, inFlight: [] };
  let isOver = false;
  let inFlight = 0;
  const ask = async (who: Credentials, method: string, path: string, form: Record<string, unknown>) => {
    const began = performance.now();
    inFlight++;
    const { status, body } = await request(system.url, who, `${method} ${path}`, form).finally(() => inFlight--);
    report.longestMs = Math.max(report.longestMs, performance.now() - began);
    if (status !== 200) report.failures.push(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const working = Array.from({ length: 16 }, async (_, client) => {
    const who = people[client % people.length] as Credentials;
    for (let count = 0; !isOver; count++) {
      const content = `${topic} ${client} ${count}`;
      const { id } = await ask(who, 'POST', '/messages', { type: 'channel', to: 'general', topic, content });
      report.sent++;
      if (id === undefined) continue;
      await ask(who, 'POST', `/messages/${id}/reactions`, { emoji_name: 'smile' });
      await ask(who, 'PATCH', `/messages/${id}`, { content: `${content}.` });
      await ask(who, 'GET', `/messages/${id}`, {});
    }
  });
  await disturb(() => report.inFlight.push(inFlight));
  isOver = true;
  await Promise.all(working);
  return report;
}

/** Every message exists exactly once. */
async function expectOnce(topic: string, { sent }: Report): Promise<void> {
  const contents: string[] = [];
  for (let anchor = 0; ; ) {
    const { status, body } = await request(system.url, system.people.owner, 'GET /messages', {
      anchor,
      include_anchor: false,
      num_before: 0,
      num_after: 1_000,
      apply_markdown: false,
      narrow: [{ operator: 'topic', operand: topic }],
    });
    expect(status).toBe(200);
    contents.push(...body.messages.map((message: { content: string }) => message.content));
    if (body.found_newest) break;
    anchor = body.messages.at(-1).id;
  }
  expect(contents.length - new Set(contents).size).toBe(0);
  expect(contents.length).toBe(sent);
}

const tell = (what: string, { sent, inFlight, longestMs }: Report) =>
  console.log(
    `${what}: seed ${seed}, ${sent} messages, in flight ${inFlight.join(' ')}, longest ${Math.round(longestMs)} ms`,
  );

test('a write whose process is killed is done once by another process, and all requests succeed', async () => {
  const random = randomOf(seed);
  const report = await under('killed', async (tick) => {
    for (let round = 0; round < 6; round++) {
      await pause(300 + random() * 500);
      const all = system.children.filter(({ program }) => program === 'messaging');
      const victim = all[Math.floor(random() * all.length)];
      const before = victim?.pid();
      tick();
      victim?.kill('SIGKILL');
      while (victim?.pid() === before) await pause(20);
      await victim?.ready();
    }
  });
  tell('messaging killed 6 times', report);
  expect(report.failures).toEqual([]);
  expect(Math.min(...report.inFlight)).toBeGreaterThan(0);
  await expectOnce('killed', report);
});

test('the work of a hung process is done by another process, and its late work is not done twice', async () => {
  const listener = await asUser('messaging');
  let direct = 0;
  listener.subscribe('natter-at.messaging.*.*.gateway', { callback: () => void direct++ });
  const report = await under('stopped', async (tick) => {
    for (const victim of system.children.filter(({ program }) => program === 'messaging')) {
      await pause(500);
      tick();
      victim.kill('SIGSTOP');
      await pause(6_000);
      victim.kill('SIGCONT');
      await pause(1_000);
    }
  });
  await listener.close();
  tell(`messaging stopped twice, ${direct} calls sent past it`, report);
  expect(direct).toBeGreaterThan(0);
  expect(report.failures).toEqual([]);
  expect(Math.min(...report.inFlight)).toBeGreaterThan(0);
  await expectOnce('stopped', report);
});

test('a process that was stopped for long does not handle requests from before the stop', async () => {
  const url = system.servers.postgresUrl;
  const admin = openDatabase(url, 1);
  const report = await under('asked before', async (tick) => {
    for (const victim of processesOf('messaging')) {
      await pause(500);
      tick();
      victim.kill('SIGSTOP');
      // Waits until the requests that the victim had begun have ended.
      await pause(16_000);
      // Deletes stored answers, like after two minutes. Requests that began after the stop may still be repeated.
      await admin.run(
        sql.unsafe`DELETE FROM messaging.idempotency WHERE created_at < clock_timestamp() - interval '15 seconds'`,
      );
      victim.kill('SIGCONT');
      await pause(1_000);
    }
  });
  await admin.close();
  expect(report.failures).toEqual([]);
  await expectOnce('asked before', report);
});

/** Stops a process of users until another one gets a call, while `ask` sends calls. Returns the failures of `ask`. */
async function pastHungUsers(caller: string, ask: () => Promise<string[]>): Promise<string[]> {
  const listener = await asUser('users');
  let direct = 0;
  listener.subscribe(`natter-at.users.*.*.${caller}`, { callback: () => void direct++ });
  await listener.flush();
  const [victim] = system.children.filter(({ program }) => program === 'users');
  // Restarts the process, so that its callers have run for longer.
  const before = victim?.pid();
  victim?.kill('SIGKILL');
  while (victim?.pid() === before) await pause(20);
  await victim?.ready();
  const failures: string[] = [];
  // NATS drops the connection of a stopped process after some seconds, and its calls go to the other process anyway.
  for (let round = 0; direct === 0 && round < 10; round++) {
    for (const end = Date.now() + 3_000; Date.now() < end; ) failures.push(...(await ask()));
    direct = 0;
    victim?.kill('SIGSTOP');
    for (const end = Date.now() + 6_000; direct === 0 && Date.now() < end; ) failures.push(...(await ask()));
    victim?.kill('SIGCONT');
  }
  await listener.close();
  expect(direct).toBeGreaterThan(0);
  return failures;
}

test('services send their calls to other processes while one hangs, even one that started after them', async () => {
  const failures = await pastHungUsers('event-queue', async () => {
    const { status, body } = await request(system.url, system.people.owner, 'POST /register', {
      event_types: ['message'],
      fetch_event_types: ['realm_user'],
    });
    return status === 200 ? [] : [`${status} ${JSON.stringify(body)}`];
  });
  expect(failures).toEqual([]);
});

test('commands of the operator are done once while a process hangs', async () => {
  const bus = await connectBus({
    url: system.urlsOf('operator').nats,
    name: 'operator',
    log: createLogger('test', 'fatal'),
    metrics: createMetrics('test'),
  });
  const meta = (realmId: number) => ({ requestId: randomUUID(), realmId, client: 'test' });
  const { realm_id } = await bus.call(userOperations.findRealm, { host: 'default' }, { meta: meta(0) });
  let count = 0;
  const failures = await pastHungUsers('operator', async () => {
    const adding = Array.from({ length: 4 }, () => {
      const rights = { password: undefined, can_create_users: false, can_change_user_emails: false };
      const person = { email: `person${count++}@hung.example`, full_name: 'Somebody', role: 400, ...rights };
      return bus.call(userOperations.addPerson, person, { meta: meta(realm_id) });
    });
    return (await Promise.allSettled(adding)).flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  });
  await bus.drain();
  expect(failures).toEqual([]);
  const { members } = (await request(system.url, system.people.owner, 'GET /users')).body;
  const emails = members.map((member: { delivery_email: string | null }) => member.delivery_email);
  const added = emails.filter((email: string | null) => email?.endsWith('@hung.example'));
  expect(new Set(added).size).toBe(count);
  expect(added.length).toBe(count);
});

const processesOf = (program: string) => system.children.filter((child) => child.program === program);

test.each([
  ['a process hangs', () => processesOf('messaging').slice(0, 1), 0],
  ['all processes of the service are stopped for some seconds', () => processesOf('messaging'), 4_000],
])('uploads are stored while %s', async (_, victims, stoppedMs) => {
  const { owner } = system.people;
  const content = Buffer.alloc(1_500_000, 'chunk by chunk ');
  for (const victim of victims()) victim.kill('SIGSTOP');
  const goOn = (): void => {
    for (const victim of victims()) victim.kill('SIGCONT');
  };
  if (stoppedMs > 0) setTimeout(goOn, stoppedMs);
  const authorization = authorizationOf(owner);
  const uploads = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const form = new FormData();
      form.append('file', new Blob([content]), 'large.txt');
      const response = await fetch(`${system.url}/api/v1/user_uploads`, {
        method: 'POST',
        headers: { authorization },
        body: form,
      });
      return { status: response.status, body: (await response.json()) as { url?: string; msg?: string } };
    }),
  ).finally(goOn);
  for (const { status, body } of uploads) {
    expect([status, body.msg]).toEqual([200, '']);
    const stored = await fetch(`${system.url}${body.url}`, { headers: { authorization } });
    expect(Buffer.from(await stored.arrayBuffer()).equals(content)).toBe(true);
  }
});

test('a restart of NATS delays requests, but does not fail or repeat them', async () => {
  const { nats } = system.servers;
  const report = await under('cut', async (tick) => {
    for (let round = 0; round < 3; round++) {
      await pause(1_000);
      tick();
      await nats.kill('SIGKILL');
      await pause(300);
      await nats.start();
      await pause(2_000);
    }
  });
  tell('NATS restarted 3 times', report);
  expect(report.failures).toEqual([]);
  expect(Math.min(...report.inFlight)).toBeGreaterThan(0);
  await expectOnce('cut', report);
});

/** Connects like a service. */
const asUser = (user: 'gateway' | 'messaging' | 'users') => {
  const { host, username, password } = new URL(system.urlsOf(user).nats);
  return connect({ servers: host, user: username, pass: decodeURIComponent(password), inboxPrefix: `_INBOX.${user}` });
};

test('a repeated call returns the result of the first process instead of "Nothing to change"', async () => {
  const { owner } = system.people;
  const send = { type: 'channel', to: 'general', topic: 'again', content: 'before' };
  const { id } = (await request(system.url, owner, 'POST /messages', send)).body;
  const url = system.servers.postgresUrl;
  const database = openDatabase(url, 2);
  const [listener, gateway] = await Promise.all([asUser('messaging'), asUser('gateway')]);
  let copy: Msg | undefined;
  const subject = 'natter.messaging.update-message_keyed.gateway';
  // The gateway may still address one process directly, as after a restart of NATS.
  for (const one of [subject, 'natter-at.messaging.update-message.*.gateway'])
    listener.subscribe(one, {
      callback: (_, message) => {
        copy = message;
      },
    });
  await listener.flush();
  const row = z.object({ count: z.number() });
  const waiting = async () =>
    (
      await database.one(sql.type(row)`
        SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%messaging.message m%FOR UPDATE%'`)
    ).count;
  const answer = await database.connect(async ({ query }) => {
    await query('BEGIN');
    await query({ text: 'SELECT FROM messaging.message WHERE id = $1 FOR UPDATE', values: [id] });
    const patched = request(system.url, owner, `PATCH /messages/${id}`, { content: 'after' });
    await expect.poll(async () => [await waiting(), copy !== undefined], { interval: 20 }).toEqual([1, true]);
    // Sends copies, like a caller that considers the call lost. At least one reaches the process that works on it.
    for (let attempt = 1; attempt <= 20; attempt++) {
      copy?.headers?.set('Natter-Attempt', String(attempt));
      const headers = copy?.headers;
      gateway.publish(subject, copy?.data, {
        reply: '_INBOX.gateway.again',
        ...(headers ? { headers } : {}),
      });
    }
    await gateway.flush();
    await expect.poll(waiting, { interval: 20 }).toBe(2);
    // Like another process that was killed after its commit.
    const key = `call:${copy?.headers?.get('Natter-Request-Id')}`;
    await query({ text: "UPDATE messaging.message SET content = 'after' WHERE id = $1", values: [id] });
    await query({
      text: `INSERT INTO messaging.idempotency (realm_id, user_id, key, fingerprint, answer)
        SELECT realm_id, $2, $3, '', '{"result": {"detached_uploads": []}}' FROM messaging.message WHERE id = $1`,
      values: [id, owner.user_id, key],
    });
    await query('COMMIT');
    return patched;
  });
  await Promise.all([database.close(), listener.close(), gateway.close()]);
  expect(answer).toEqual({ status: 200, body: expect.objectContaining({ result: 'success', detached_uploads: [] }) });
});
