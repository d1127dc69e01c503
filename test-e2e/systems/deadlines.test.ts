import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '@natter/database';
import type { System } from '@natter/local/system';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorizationOf, type Credentials, request } from '../api.ts';
import { onEveryGateway } from '../every-gateway.ts';
import { metric, metricsOf } from '../metrics.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { untilServed } from '../patience.ts';

let system: System;
let dataDir: string;
let locker: pg.Client;
let observer: pg.Client;
let who: Credentials;
let messageId: number;

beforeAll(async () => {
  dataDir = await dataDirectory();
  system = await openSystem({ dataDir });
  [locker, observer] = [0, 1].map(() => new pg.Client({ connectionString: system.servers.postgresUrl })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([locker.connect(), observer.connect()]);
  who = system.people.owner;
  const joined = await ask('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'slow' }] });
  expect(joined.status).toBe(200);
  const sent = await ask('POST', '/messages', { type: 'channel', to: '"slow"', topic: 'locks', content: 'needle' });
  expect(sent.status).toBe(200);
  messageId = sent.body.id;
});
afterAll(async () => {
  await Promise.all([locker?.end(), observer?.end()]);
  await system?.stop();
});

const ask = (method: string, path: string, form: Record<string, unknown> = {}) =>
  request(system.url, who, `${method} ${path}`, form);

/** Statements of services that wait for a lock and were sent before `before` (by Postgres's clock). */
async function waitingSince(before: Date): Promise<string[]> {
  const { rows } = await observer.query<{ query: string }>(
    "SELECT query FROM pg_stat_activity WHERE application_name LIKE 'natter-%' AND wait_event_type = 'Lock' AND query_start < $1",
    [before],
  );
  return rows.map(({ query }) => query);
}
const now = async (): Promise<Date> =>
  (await observer.query<{ now: Date }>('SELECT clock_timestamp() AS now')).rows[0]?.now as Date;

async function withLocked<R>(tables: string, work: () => Promise<R>): Promise<R> {
  await locker.query(`BEGIN; LOCK TABLE ${tables}`);
  try {
    return await work();
  } finally {
    await locker.query('ROLLBACK');
  }
}

const reads: [string, Record<string, unknown>][] = [
  ['/saved_snippets', {}],
  ['/drafts', {}],
  ['/messages', { anchor: 'newest', num_before: 5, num_after: 0, narrow: [['search', 'needle']] }],
  ['/realm/presence', {}],
  ['/users/me/subscriptions', {}],
];
const emoji = { early: 'smile', late: 'tada', afterwards: 'heart' };
const writes = (word: keyof typeof emoji): [string, Record<string, unknown>][] => [
  ['/saved_snippets', { title: word, content: word }],
  ['/drafts', { drafts: [{ type: 'private', to: [], topic: '', content: word, timestamp: 1 }] }],
  ['/users/me/subscriptions', { subscriptions: [{ name: word }] }],
  [`/messages/${messageId}/reactions`, { emoji_name: emoji[word] }],
  ['/messages', { type: 'channel', to: '"slow"', topic: word, content: word }],
  ['/register', { event_types: ['message'] }],
];
const tables =
  'users.saved_snippet, messaging.draft, messaging.message, messaging.reaction, presence.presence, channels.channel, channels.subscription, event_queue.queue';

describe('requests on locked tables', () => {
  test('return 503 at their deadline, stop their statements and do not change data afterwards', async () => {
    const writeAll = async (word: keyof typeof emoji): Promise<void> => {
      for (const [path, form] of writes(word))
        expect(await ask('POST', path, form), path).toMatchObject({ status: 200 });
    };
    await writeAll('early');
    await withLocked(tables, async () => {
      const answers = await Promise.all([
        ...reads.map(([path, form]) => ask('GET', path, form)),
        ...writes('late').map(([path, form]) => ask('POST', path, form)),
      ]);
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
        answers.map(() => [503, 'SERVICE_UNAVAILABLE']),
      );
      const answered = await now();
      await expect.poll(() => waitingSince(answered)).toEqual([]);
    });
    // After a later change of each kind, everything that waited for the locks has had its turn.
    await writeAll('afterwards');
    const read = async (path: string, form = {}): Promise<string> =>
      JSON.stringify((await ask('GET', path, form)).body);
    const page = { anchor: 'newest', num_before: 100, num_after: 0 };
    for (const [path, form] of [
      ['/saved_snippets'],
      ['/drafts'],
      ['/users/me/subscriptions'],
      ['/messages', page],
    ] as const) {
      const text = await read(path, form);
      expect(text, path).toContain('afterwards');
      expect(text, path).not.toContain('"late"');
      expect(text, path).not.toContain('>late<');
      expect(text, path).not.toContain('"tada"');
    }
    for (const [path, form] of reads) expect((await ask('GET', path, form)).status, path).toBe(200);
  });

  test('are rejected before the table is read if the actor lacks the permission', async () => {
    const [group] = (await ask('GET', '/user_groups')).body.user_groups;
    const made = await ask('POST', '/user_groups/create', { name: 'kept', description: '', members: [] });
    const channel = (await ask('GET', '/get_stream_id', { stream: 'general' })).body.stream_id;
    const refused = async (path: string, form: Record<string, unknown> = {}): Promise<unknown> => {
      const { status, body } = await request(system.url, system.people.guest, path, form);
      return [status, body.msg];
    };
    await withLocked('channels.channel', async () => {
      for (const id of [group.id, made.body.group_id])
        for (const [path, form] of [
          [`POST /user_groups/${id}/deactivate`],
          [`DELETE /user_groups/${id}`],
          [`PATCH /user_groups/${id}`, { deactivated: true }],
        ] as const)
          expect(await refused(path, form), path).toEqual([400, 'Insufficient permission']);
      expect(await refused('POST /user_groups/999999/deactivate')).toEqual([400, 'Invalid user group']);
    });
    await withLocked('messaging.message', async () => {
      for (const id of [channel, 999_999])
        expect(await refused(`PATCH /streams/${id}`, { topics_policy: 'empty_topic_only' })).toEqual([
          400,
          expect.any(String),
        ]);
    });
  });

  test('end in Postgres when the client hangs up', async () => {
    const headers = { authorization: authorizationOf(who) };
    const hangUp = async (): Promise<void> => {
      const hangup = new AbortController();
      const query = new URLSearchParams({
        anchor: 'newest',
        num_before: '5',
        num_after: '0',
        narrow: '[["search","needle"]]',
      });
      const answer = fetch(`${system.url}/api/v1/messages?${query}`, { headers, signal: hangup.signal });
      const ended = expect(answer).rejects.toThrow('abort');
      await expect.poll(async () => waitingSince(await now())).not.toEqual([]);
      const before = await now();
      hangup.abort();
      await ended;
      await expect.poll(() => waitingSince(before)).toEqual([]);
    };
    // Both count each attempt in the end, so no attempt is counted as part of a later one.
    const isCounted = (counts: Record<string, number>): boolean =>
      ['gateway', 'messaging'].every((program) => Object.keys(counts).some((name) => name.startsWith(program)));
    const attempt = async (): Promise<[inTime: boolean, counts: Record<string, number>]> => {
      const earlier = await outcomes();
      const begunAt = Date.now();
      await withLocked('messaging.message', hangUp);
      const inTime = Date.now() - begunAt < 10_000;
      let counts: Record<string, number> = {};
      await expect
        .poll(async () => {
          counts = grown(earlier, await outcomes());
          return isCounted(counts);
        })
        .toBe(true);
      return [inTime, counts];
    };
    // The lock time-out would end the statement too, but not before ten seconds. On a busy machine one attempt may take
    // longer. Neither an answer nor a server error: the lock time-out or the deadline of the operation would be one.
    await expect.poll(attempt).toEqual([true, { 'gateway cancelled': 1, 'messaging CANCELLED': 1 }]);
  });

  test('have one deadline for the check of the key and the operation', async () => {
    const { api_key } = (
      await untilServed(() =>
        request(system.url, { email: '', api_key: '' }, 'POST /fetch_api_key', {
          username: system.people.member.email,
          password: system.people.member.password,
        }),
      )
    ).body;
    const stop = (program: string, signal: NodeJS.Signals) => {
      for (const child of system.children) if (child.program === program) child.kill(signal);
    };
    const person = { email: system.people.member.email, api_key };
    const attempt = async (): Promise<number> => {
      stop('users', 'SIGSTOP');
      stop('presence', 'SIGSTOP');
      try {
        const begunAt = Date.now();
        setTimeout(() => stop('users', 'SIGCONT'), 4_000);
        const { status, body } = await request(system.url, person, 'GET /realm/presence');
        expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
        return Date.now() - begunAt;
      } finally {
        stop('users', 'SIGCONT');
        stop('presence', 'SIGCONT');
      }
    };
    // The deadline of the operation is 15 seconds; separately, both take 19, so no attempt succeeds. On a busy machine
    // one attempt may take longer.
    await expect.poll(attempt).toBeLessThan(17_500);
  });
});

test('a migration that waits for a lock does not block other statements, and runs when the lock is free', async () => {
  await observer.query('ALTER TABLE log.event OWNER TO CURRENT_USER');
  // A long read of the log blocks a change of the table, and all statements queue behind the change.
  await locker.query('BEGIN; SELECT 1 FROM log.event LIMIT 1');
  const lines: string[] = [];
  const password = await readFile(join(dataDir, 'service-password'), 'utf8');
  const migrated = migrate(system.servers.postgresUrl, password.trim(), (line) => lines.push(line));
  let isDone = false;
  void migrated.then(() => {
    isDone = true;
  });
  const waits = async (): Promise<number | null> =>
    (
      await observer.query(
        "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock' AND relation = 'log.event'::regclass",
      )
    ).rowCount;
  await expect.poll(waits, { interval: 20 }).toBe(1);
  // This read completes while the reader still holds its lock.
  await observer.query("SET statement_timeout = '60s'");
  await observer.query('SELECT 1 FROM log.event LIMIT 1');
  expect(isDone).toBe(false);
  await expect
    .poll(() => lines.join())
    .toMatch(/the owner of the log waits for a lock that others hold: .*\(process \d+\)/);
  await locker.query('COMMIT');
  await migrated;
  const { rows } = await observer.query(
    "SELECT relowner::regrole::text AS owner FROM pg_class WHERE oid = 'log.event'::regclass",
  );
  expect(rows).toEqual([{ owner: 'natter_event_queue' }]);
});

test('a limit on the users that guests see is stored while messaging is unavailable, and applies afterwards', async () => {
  const { user_groups } = (await ask('GET', '/user_groups')).body;
  const idOf = (name: string): number => user_groups.find((group: { name: string }) => group.name === name).id;
  const limitTo = (name: string) => ask('PATCH', '/realm', { can_access_all_users_group: { new: idOf(name) } });
  const isInForce = async (): Promise<boolean> =>
    (await observer.query('SELECT FROM users.realm WHERE limits_guests')).rowCount === 1;
  const messaging = system.children.find(({ program }) => program === 'messaging');
  messaging?.kill('SIGSTOP');
  try {
    await expect.poll(async () => (await limitTo('role:members')).status).toBe(200);
    expect(await isInForce()).toBe(false);
  } finally {
    messaging?.kill('SIGCONT');
  }
  await expect.poll(isInForce).toBe(true);
  await expect.poll(async () => (await limitTo('role:everyone')).status).toBe(200);
  expect(await isInForce()).toBe(false);
});

test('a limit on the users that guests see is not tried if the change is refused', async () => {
  const { user_groups } = (await ask('GET', '/user_groups')).body;
  const idOf = (name: string): number => user_groups.find((group: { name: string }) => group.name === name).id;
  const limit = (value: object) => ask('PATCH', '/realm', { can_access_all_users_group: value });
  /** A trial reads all subscriptions. */
  const trials = (): Promise<number> =>
    metric(system, 'channels', 'natter_request_seconds_count', 'operation="list-subscribers"');
  const before = await trials();
  const [members, everyone] = [idOf('role:members'), idOf('role:everyone')];
  for (const value of [{ new: 999_999 }, { new: idOf('role:nobody') }, { new: members, old: members }])
    expect((await limit(value)).status).toBe(400);
  expect(await trials()).toBe(before);
  expect((await limit({ new: members, old: everyone })).status).toBe(200);
  expect(await trials()).toBeGreaterThan(before);
  expect((await limit({ new: everyone })).status).toBe(200);
});

test('services are not asked again for their part of a register while messaging cannot serve its part', async () => {
  const parts = (program: string): Promise<number> =>
    metric(system, program, 'natter_request_seconds_count', `operation="snapshot-${program}"`);
  const counts = () => Promise.all(['messaging', 'users', 'channels'].map(parts));
  const before = await counts();
  await locker.query(`BEGIN; SELECT FROM messaging.consumer WHERE name = 'periods' FOR UPDATE`);
  expect((await ask('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'awaited' }] })).status).toBe(200);
  const registered = ask('POST', '/register');
  await expect.poll(async () => (await counts())[0]).toBeGreaterThan((before[0] ?? 0) + 1);
  await locker.query('ROLLBACK');
  expect((await registered).status).toBe(200);
  const [messaging, ...others] = (await counts()).map((count, index) => count - (before[index] ?? 0));
  expect(messaging).toBeGreaterThan(2);
  expect(others).toEqual([2, 2]);
});

/** Failed and cancelled requests for messages, by the place where they were counted. */
async function outcomes(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const program of ['gateway', 'messaging'])
    for (const line of (await metricsOf(system, program)).flatMap((text) => text.split('\n'))) {
      const found =
        /^natter_(?:http_)?request_seconds_count\{.*operation="get-messages".*(?:status|outcome)="([^"]*)"/.exec(line);
      if (!found || found[1] === 'success' || found[1] === '200') continue;
      const name = `${program} ${found[1]}`;
      counts[name] = (counts[name] ?? 0) + Number(line.split(' ').at(-1));
    }
  return counts;
}

const grown = (before: Record<string, number>, after: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );

describe('administrators see the unavailable service and all other values', () => {
  /** Number of queues in the database: those of earlier tests may end at any time. */
  const aliveQueues = async (): Promise<number> =>
    (await observer.query('SELECT FROM event_queue.queue WHERE expires_at > now()')).rowCount ?? 0;
  /** The number of queues is compared with the one in the database; the server's number may be some seconds old. */
  const stateOf = async () => {
    const { status, body } = await ask('GET', '/server/status');
    const silent = (body.services ?? []).filter((one: { is_available: boolean }) => !one.is_available);
    const { event_queues: queues } = body;
    return [status, silent, body.people_online, queues === null ? null : queues === (await aliveQueues())];
  };
  const silentOf = (name: string) => ({ name, is_available: false, versions: [], latency_ms: null });

  test.each([
    ['scheduler', {}],
    ['presence', { online: null }],
    ['event-queue', { queues: null }],
    ['users', {}],
  ])('while %s does not respond', async (program, unknown) => {
    const { body } = await ask('POST', '/register', { event_types: ['message'] });
    const usual = { online: 1, queues: true };
    const { online, queues } = { ...usual, ...unknown };
    const child = system.children.find((one) => one.program === program);
    await ask('POST', '/users/me/presence', { status: 'active' });
    await expect.poll(stateOf).toEqual([200, [], usual.online, usual.queues]);
    // Without users, a gateway answers an administrator whom it has seen.
    const separate = { ...who, headers: { connection: 'close' } };
    await onEveryGateway(system, () => request(system.url, separate, 'GET /server/status'));
    child?.kill('SIGSTOP');
    try {
      await expect.poll(stateOf).toEqual([200, [silentOf(program)], online, queues]);
    } finally {
      child?.kill('SIGCONT');
    }
    await expect.poll(stateOf).toEqual([200, [], usual.online, usual.queues]);
    await ask('DELETE', '/events', { queue_id: body.queue_id });
  });
});

test('a request waits for the look-up of its sender and of the rules for as long as for its own statements', async () => {
  const { owner, moderator } = system.people;
  const form = { type: 'direct', to: `[${owner.user_id}]`, content: 'late' };
  const sendWhileLocked = async (): Promise<number> => {
    const { sent } = await withLocked('users.account, users.realm', async () => {
      const sent = request(system.url, moderator, 'POST /messages', form);
      await expect.poll(async () => (await waitingSince(await now())).length).toBeGreaterThan(0);
      await new Promise((resolve) => setTimeout(resolve, 6_000));
      return { sent };
    });
    return (await sent).status;
  };
  // Repeated, because the remaining time may be too short on a busy machine.
  await expect.poll(sendWhileLocked).toBe(200);
});

test('a request is not refused because a projection is late, but waits for it for as long as for its own statements', async () => {
  const { owner, moderator } = system.people;
  let attempts = 0;
  const askWhileLocked = async (): Promise<unknown[]> => {
    const name = `late${attempts++}`;
    const { answers } = await withLocked('messaging.person IN SHARE MODE', async () => {
      const form = { email: `${name}@example.com`, full_name: name, password: 'a password for tests' };
      const { status, body } = await request(system.url, owner, 'POST /users', form);
      expect(status).toBe(200);
      const message = { type: 'direct', to: `[${body.user_id}]`, content: name };
      const due = { scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 3600 };
      const answers = Promise.all([
        request(system.url, moderator, 'POST /messages', message),
        request(system.url, moderator, 'POST /scheduled_messages', { ...message, ...due }),
      ]);
      await new Promise((resolve) => setTimeout(resolve, 6_000));
      return { answers };
    });
    return (await answers).map(({ status, body }) => [status, body.msg]);
  };
  // Repeated, because the remaining time may be too short on a busy machine.
  await expect.poll(askWhileLocked).toEqual([
    [200, ''],
    [200, ''],
  ]);
});
