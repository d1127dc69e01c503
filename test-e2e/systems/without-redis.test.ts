import { randomUUID } from 'node:crypto';
import type { System } from '@natter/local/system';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, request } from '../api.ts';
import { type Link, proxyTo } from '../chaos/proxy.ts';
import { failSaves } from '../failed-saves.ts';
import { openSystem } from '../open-system.ts';
import { requestOnce, untilServed } from '../patience.ts';

let system: System;
let operator: Redis;
/** The connections of services to Redis. */
const links: Link[] = [];
beforeAll(async () => {
  system = await openSystem({
    // Two processes that commit: the entries of one may have to wait for those of the other.
    replicas: { messaging: 2 },
    between: async ({ server, url }) => {
      if (server !== 'redis') return url;
      const link = await proxyTo(url);
      links.push(link);
      return link.url;
    },
  });
  operator = new Redis(system.servers.redisUrl);
  operator.on('error', () => undefined);
});
afterAll(async () => {
  operator?.disconnect();
  await system?.stop();
  for (const link of links) link.close();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const redis = () => system.servers.redis;

let endOfFailedSaves = async (): Promise<void> => undefined;
/** Ways in which Redis can fail, and their ends. */
const faults = {
  gone: { begin: () => redis().kill('SIGKILL'), end: () => redis().start() },
  paused: { begin: () => redis().kill('SIGSTOP'), end: () => redis().kill('SIGCONT') },
  slow: {
    begin: async () => {
      for (const link of links) link.delay(300);
    },
    end: async () => {
      for (const link of links) link.heal();
    },
  },
  'out of memory': {
    begin: () => operator.config('SET', 'maxmemory', '1'),
    end: () => operator.config('SET', 'maxmemory', '0'),
  },
  'read-only': {
    begin: () => operator.replicaof('127.0.0.1', '1'),
    end: () => operator.replicaof('NO', 'ONE'),
  },
  'unable to save': {
    begin: async () => {
      endOfFailedSaves = await failSaves(operator);
    },
    end: () => endOfFailedSaves(),
  },
} satisfies Record<string, { begin: () => Promise<unknown>; end: () => Promise<unknown> }>;

/** Users who were not present before. */
const newcomers = {
  slow: 'somebody new',
  gone: 'owner',
  paused: 'administrator',
  'out of memory': 'moderator',
  'read-only': 'guest',
  'unable to save': 'member2',
} as const;

/** UNIX seconds before each of them came. */
const cameAt = new Map<string, number>();

const password = 'correct horse battery staple';
let created: System['people']['owner'];
beforeAll(async () => {
  const { owner } = system.people;
  const person = { email: 'new@example.com', full_name: 'Nina New', password };
  const { user_id } = (await requestOnce(system.url, owner, 'POST /users', person)).body;
  const login = { username: person.email, password };
  const { api_key } = (await requestOnce(system.url, owner, 'POST /fetch_api_key', login)).body;
  created = { ...owner, ...person, user_id, api_key };
});
const newcomerOf = (fault: keyof typeof newcomers) => {
  const name = newcomers[fault];
  return name === 'somebody new' ? created : system.people[name];
};

/** Whether a heartbeat shows that a poll missed what was done: polls are held for 45 seconds at least. */
const isMissed = (doneAt: number | undefined): boolean => doneAt !== undefined && Date.now() - doneAt > 20_000;

describe.each(Object.keys(faults) as (keyof typeof faults)[])('with Redis %s', (name) => {
  const ask = (method: string, path: string, form: Record<string, unknown> = {}, who = system.people.member) =>
    request(system.url, who, `${method} ${path}`, form);
  const presenceOf = async (userId: number): Promise<number | undefined> => {
    const { body } = await untilServed(() =>
      ask('POST', '/users/me/presence', { status: 'active', last_update_id: -1 }),
    );
    return body.presences?.[String(userId)]?.active_timestamp;
  };

  const queue = { queue_id: '', last_event_id: -1 };

  beforeAll(async () => {
    await ask('POST', '/users/me/presence', { status: 'active' });
    const { body } = await untilServed(() => ask('POST', '/register', { event_types: ['message'] }));
    queue.queue_id = body.queue_id;
    // The gateway follows the log before the fault begins.
    await ask('GET', '/events', { ...queue, dont_block: true });
    await faults[name].begin();
  });
  afterAll(async () => {
    await faults[name].end();
    // The next fault begins when all services are connected.
    await pause(1_500);
  });

  test('messages are delivered in order, whatever their size', async () => {
    const contents = [`first ${name}`, `${name} ${'\u00e9'.repeat(9_900)}`, `last ${name}`];
    const received: string[] = [];
    const sentAt: number[] = [];
    const sending = (async () => {
      for (const content of contents) {
        const form = { type: 'channel', to: 'general', topic: 'redis', content };
        const who = { ...system.people.member, headers: { 'idempotency-key': randomUUID() } };
        const { status } = await untilServed(() => request(system.url, who, 'POST /messages', form));
        expect(status).toBe(200);
        sentAt.push(Date.now());
      }
    })();
    while (received.length < contents.length) {
      const { body } = await untilServed(() => ask('GET', '/events', queue));
      for (const event of body.events) {
        queue.last_event_id = event.id;
        if (event.type === 'heartbeat') expect(isMissed(sentAt[received.length])).toBe(false);
        else received.push(event.message.content);
      }
    }
    await sending;
    expect(received.map((html) => html.replace(/<[^>]*>/g, ''))).toEqual(contents);
  });

  /** The first event of a new queue of these types that `isIt`, while `act` happens. */
  const told = async (event_types: string[], isIt: (event: Answer) => boolean, act: () => Promise<unknown>) => {
    const { body } = await untilServed(() => ask('POST', '/register', { event_types }));
    let actedAt: number | undefined;
    const acted = act().then(() => {
      actedAt = Date.now();
    });
    for (let last = body.last_event_id; ; ) {
      const poll = () => ask('GET', '/events', { queue_id: body.queue_id, last_event_id: last });
      const { events } = (await untilServed(poll)).body;
      const found = events.find(isIt);
      await acted;
      if (found || (events.some(({ type }: Answer) => type === 'heartbeat') && isMissed(actedAt))) return found;
      last = events.at(-1)?.id ?? last;
    }
  };

  test('other users receive typing events', async () => {
    const { member, member2 } = system.people;
    const form = { type: 'direct', op: 'start', to: [member.user_id] };
    const isIt = (event: Answer) => event.sender?.user_id === member2.user_id;
    const event = await told(['typing'], isIt, () => untilServed(() => ask('POST', '/typing', form, member2)));
    expect(event).toMatchObject({ type: 'typing', op: 'start' });
  });

  test('an event is delivered even if its process was killed before announcing it', async () => {
    const { member } = system.people;
    const postgres = new pg.Client({ connectionString: system.servers.postgresUrl });
    await postgres.connect();
    // Commits without an append to Redis, like a process that is killed right after its commit.
    const event = { type: 'reaction', op: 'add', body: { message_id: 1, emoji_name: name }, audience: 'realm' };
    const commit = () =>
      postgres.query(`SELECT log.append(realm_id, '{}', '{}', 'messaging', $2) FROM users.account WHERE id = $1`, [
        member.user_id,
        JSON.stringify([event]),
      ]);
    const delivered = await told(['reaction'], (one) => one.emoji_name === name, commit).finally(() => postgres.end());
    expect(delivered).toMatchObject({ type: 'reaction', message_id: 1 });
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
      ['POST', '/fetch_api_key', { username: created.email, password }],
    ];
    const answers = [];
    for (const [method, path, form] of requests) {
      const send = () => ask(method, path, form);
      // On a busy machine the hash of a password may take longer than a request.
      answers.push([path, (await (path === '/fetch_api_key' ? untilServed(send) : send())).status]);
    }
    expect(answers).toEqual(requests.map(([, path]) => [path, 200]));
  });

  test('a user who comes online is shown as present, and others receive the event', async () => {
    const newcomer = newcomerOf(name);
    const { user_id } = newcomer;
    expect(await presenceOf(user_id)).toBeUndefined();
    cameAt.set(name, Math.floor(Date.now() / 1_000));
    const come = async () =>
      expect((await untilServed(() => ask('POST', '/users/me/presence', { status: 'active' }, newcomer))).status).toBe(
        200,
      );
    const event = await told(['presence'], (one) => one.user_id === user_id, come);
    expect(event?.presence.website.status).toBe('active');
    expect(await presenceOf(user_id)).toBeGreaterThan(Date.now() / 1000 - 60);
    // Redis is tried again after a second. A Redis that refuses writes alone would answer with outdated state.
    for (const end = Date.now() + 3_000; Date.now() < end; await pause(250)) {
      const { body } = await ask('GET', `/users/${user_id}/presence`);
      expect(body).toMatchObject({ presence: { website: { status: 'active' } } });
    }
  });
});

test.each(Object.keys(newcomers) as (keyof typeof newcomers)[])(
  'a user who came online while Redis was %s is still shown as present afterwards',
  async (name) => {
    const { user_id } = newcomerOf(name);
    const { member } = system.people;
    // The status depends on the time that the other faults took.
    const seenAt = async () =>
      (await request(system.url, member, `GET /users/${user_id}/presence`)).body.presence?.website.timestamp ?? 0;
    await expect.poll(seenAt).toBeGreaterThanOrEqual(cameAt.get(name) ?? Number.NaN);
  },
);
