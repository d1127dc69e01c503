import { randomUUID } from 'node:crypto';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Credentials, request } from '../api.ts';
import { onEveryGateway } from '../every-gateway.ts';
import { openSystem } from '../open-system.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem({ env: { NATTER_RATE_LIMIT_ANONYMOUS: '1000000' } });
});
afterAll(() => system?.stop());

type Who = Credentials & { user_id: number };
type Reply = { status: number; body: Answer };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A new connection each time, which reaches any gateway. */
const call = (
  { headers, ...who }: Parameters<typeof request>[1],
  method: string,
  path: string,
  form: Record<string, unknown> = {},
): Promise<Reply> =>
  request(system.url, { ...who, headers: { connection: 'close', ...headers } }, `${method} ${path}`, form);

/** Repeats under one key until it succeeds, because servers come back. */
async function ok(who: Credentials, method: string, path: string, form: Record<string, unknown> = {}): Promise<Answer> {
  const once = { ...who, headers: { 'idempotency-key': randomUUID() } };
  for (const end = Date.now() + 60_000; ; await pause(100)) {
    const { status, body } = await call(once, method, path, form).catch((): Reply => ({ status: 599, body: {} }));
    if (status === 200) return body;
    if (status < 500 || Date.now() > end) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  }
}

const onAllGateways = (what: () => Promise<Reply>): Promise<Reply[]> =>
  onEveryGateway(system, () => what().catch((): Reply => ({ status: 599, body: {} })));

let count = 0;
/** A user whom both gateways have cached. */
async function knownPerson(): Promise<Who> {
  const n = ++count;
  const account = { email: `revoked${n}@natter.example`, password: `a good password ${n}`, full_name: `Revoked ${n}` };
  const { user_id } = await ok(system.people.owner, 'POST', '/users', account);
  const { email, api_key } = await ok({ email: '', api_key: '' }, 'POST', '/fetch_api_key', {
    username: account.email,
    password: account.password,
  });
  const who = { user_id, email, api_key };
  // The servers may still be coming back from an earlier cut.
  for (const end = Date.now() + 120_000; ; await pause(500)) {
    const statuses = (await onAllGateways(() => call(who, 'GET', '/users/me'))).map(({ status }) => status);
    if (statuses.every((status) => status === 200)) return who;
    if (Date.now() > end) throw new Error(`A new person is answered ${statuses}`);
  }
}

/** Faults injected around the answer to the change; `back` ends them. */
type Cut = { name: string; before: () => Promise<void>; after: () => Promise<void>; back: () => Promise<void> };
const nothing = async (): Promise<void> => undefined;
const cuts: Cut[] = [
  { name: 'nothing is cut', before: nothing, after: nothing, back: nothing },
  {
    name: 'Redis is gone',
    before: () => system.servers.redis.kill('SIGKILL'),
    after: nothing,
    back: () => system.servers.redis.start(),
  },
  {
    name: 'Redis does not answer',
    before: () => system.servers.redis.kill('SIGSTOP'),
    after: nothing,
    back: () => system.servers.redis.kill('SIGCONT'),
  },
  {
    name: 'NATS goes with the answer',
    before: nothing,
    after: async () => {
      await system.servers.nats.kill('SIGKILL');
      await system.servers.nats.start();
    },
    back: nothing,
  },
];

/** After the answer no request may succeed on any gateway, during and after the fault. */
async function expectNeverAgain(what: () => Promise<Reply>, code: RegExp): Promise<void> {
  const until = Date.now() + 700;
  do {
    for (const { status, body } of await onAllGateways(what)) {
      if (status >= 500) continue;
      expect([status, body.code]).toEqual([expect.any(Number), expect.stringMatching(code)]);
      expect(status).toBeGreaterThanOrEqual(400);
    }
    await pause(50);
  } while (Date.now() < until);
}

/** A right of a user, how it is revoked, and what the user may no longer do. */
interface Revoked {
  take(): Promise<unknown>;
  refused: { what: () => Promise<Reply>; code: RegExp }[];
}

type Ended = { begunAt: number; endedAt: number; events: Answer[] };
type Held = { poll: () => Promise<Reply>; ended: Promise<Ended[]> };
async function leaver(): Promise<Revoked & Held> {
  const who = await knownPerson();
  // Filtered to own events: the welcome message may still arrive.
  const queues = await Promise.all(
    Array.from({ length: 6 }, () => ok(who, 'POST', '/register', { event_types: ['typing'] })),
  );
  const ended: Ended[] = [];
  const held = queues.map(async ({ queue_id, last_event_id }) => {
    const begunAt = Date.now();
    const answer = await call(who, 'GET', '/events', { queue_id, last_event_id }).catch(() => undefined);
    ended.push({ begunAt, endedAt: Date.now(), events: answer?.body.events ?? [] });
  });
  await pause(500);
  expect(ended, 'before anything happens').toEqual([]);
  const code = /^USER_DEACTIVATED$/;
  const [{ queue_id, last_event_id }] = queues as [Answer];
  return {
    poll: () => call(who, 'GET', '/events', { queue_id, last_event_id, dont_block: true }),
    ended: Promise.all(held).then(() => ended),
    take: () => ok(system.people.owner, 'DELETE', `/users/${who.user_id}`),
    refused: [
      { what: () => call(who, 'GET', '/users/me'), code: /^(USER_DEACTIVATED|INVALID_API_KEY)$/ },
      { what: () => call(who, 'POST', '/users/me/status', { status_text: 'here' }), code },
      { what: () => call(who, 'POST', '/messages', { type: 'direct', to: [who.user_id], content: 'here' }), code },
    ],
  };
}

async function formerAdministrator(): Promise<Revoked> {
  const who = await knownPerson();
  const { owner } = system.people;
  await ok(owner, 'PATCH', `/users/${who.user_id}`, { role: 200 });
  const posts = () => call(who, 'POST', '/messages', { type: 'channel', to: 'general', topic: 'role', content: 'x' });
  await ok(who, 'PATCH', '/realm', { description: 'before' });
  expect((await onAllGateways(posts)).map(({ status }) => status)).not.toContain(400);
  return {
    take: () => ok(owner, 'PATCH', `/users/${who.user_id}`, { role: 600 }),
    refused: [
      {
        what: () => call(who, 'PATCH', '/realm', { description: `by ${who.user_id} ${Math.random()}` }),
        code: /^BAD_REQUEST$/,
      },
      { what: posts, code: /^STREAM_DOES_NOT_EXIST$/ },
      { what: () => call(who, 'GET', '/streams/1'), code: /^BAD_REQUEST$/ },
    ],
  };
}

async function formerMember(): Promise<Revoked> {
  const who = await knownPerson();
  const { owner } = system.people;
  const { group_id } = await ok(owner, 'POST', '/user_groups/create', {
    name: `writers ${who.user_id}`,
    description: '',
    members: [who.user_id],
  });
  const channel = `written by group ${group_id}`;
  await ok(owner, 'POST', '/channels/create', {
    name: channel,
    subscribers: [owner.user_id],
    can_send_message_group: group_id,
  });
  const posts = () => call(who, 'POST', '/messages', { type: 'channel', to: channel, topic: 'group', content: 'x' });
  expect((await onAllGateways(posts)).map(({ status }) => status)).not.toContain(400);
  return {
    take: () => ok(owner, 'POST', `/user_groups/${group_id}/members`, { delete: [who.user_id] }),
    refused: [{ what: posts, code: /^BAD_REQUEST$/ }],
  };
}

const refusesAll = async ({ refused }: Revoked): Promise<void> => {
  await Promise.all(refused.map(({ what, code }) => expectNeverAgain(what, code)));
};

describe.each(cuts)('while $name', ({ name, before, after, back }) => {
  let [left, role, group] = [] as unknown as [Revoked & Held, Revoked, Revoked];
  let refusals = new Map<Revoked, Promise<void>>();
  let at = 0;
  beforeAll(async () => {
    // One after the other, so that requests of one person do not count as those of another.
    role = await formerAdministrator();
    group = await formerMember();
    left = await leaver();
    await before();
    const taken = left.take().then(() => {
      at = Date.now();
    });
    await Promise.all([taken, role.take(), group.take()]);
    await after();
    // From here on, all simultaneously; each test then checks its part.
    refusals = new Map([left, role, group].map((one) => [one, refusesAll(one)]));
    await Promise.allSettled(refusals.values());
  });
  let isBack = false;
  const bringBack = async (): Promise<void> => {
    if (!isBack) await back();
    isBack = true;
  };
  afterAll(bringBack);

  test('a deactivation ends keys at once, and queues and held polls soon', async () => {
    await refusals.get(left);
    const ended = await left.ended;
    console.log(`${name}: held polls ended after`, ended.map(({ endedAt }) => endedAt - at).join(', '), 'ms');
    for (const { begunAt, events } of ended) {
      // A heartbeat after 45 seconds shows that the change did not end the poll, unless it was held for long before.
      const isOld = at - begunAt > 15_000;
      expect(events.filter(({ type }) => !(isOld && type === 'heartbeat'))).toEqual([]);
    }
    await expectNeverAgain(left.poll, /^(USER_DEACTIVATED|BAD_EVENT_QUEUE_ID)$/);
  });
  test('a removed role loses its rights at once', () => refusals.get(role));
  test('a right that a group gave is lost at once', () => refusals.get(group));
  test('all revocations are still in force after the cut', async () => {
    await bringBack();
    for (const one of [left, role, group]) await refusesAll(one);
  });
});
