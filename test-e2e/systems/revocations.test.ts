import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '@natter/local/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Credentials, request } from '../api.ts';

let system: System;
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-test-'));
  const env = { ...process.env, NATTER_RATE_LIMIT: '1000000', NATTER_RATE_LIMIT_ANONYMOUS: '1000000' };
  system = await startSystem({ dataDir, env, log: () => undefined });
});
afterAll(() => system?.stop());

type Who = Credentials & { user_id: number };
type Reply = { status: number; body: Answer };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** On a connection of its own: which gateway answers is chance. */
const call = (who: Credentials, method: string, path: string, form: Record<string, unknown> = {}): Promise<Reply> =>
  request(system.url, who, method, path, form, { connection: 'close' });

/** Until it succeeds: servers come back. */
async function ok(who: Credentials, method: string, path: string, form: Record<string, unknown> = {}): Promise<Answer> {
  for (const end = Date.now() + 20_000; ; await pause(100)) {
    const { status, body } = await call(who, method, path, form).catch((): Reply => ({ status: 599, body: {} }));
    if (status === 200) return body;
    if (status < 500 || Date.now() > end) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  }
}

const calls = 12;
/** So many that both gateways are asked, but for luck. */
const onAllGateways = (what: () => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: calls }, () => what().catch((): Reply => ({ status: 599, body: {} }))));

let count = 0;
/** A person whom both gateways know. */
async function knownPerson(): Promise<Who> {
  const n = ++count;
  const account = { email: `revoked${n}@natter.example`, password: `a good password ${n}`, full_name: `Revoked ${n}` };
  const { user_id } = await ok(system.people.owner, 'POST', '/users', account);
  const { email, api_key } = await ok({ email: '', api_key: '' }, 'POST', '/fetch_api_key', {
    username: account.email,
    password: account.password,
  });
  const who = { user_id, email, api_key };
  const answers = await onAllGateways(() => call(who, 'GET', '/users/me'));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  return who;
}

/** What happens to a server around the answer of the change; gives what brings it back. */
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

/** Nothing may succeed from the moment of the answer, on any gateway, for as long as the cut lasts and after it. */
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

describe.each(cuts)('while $name', ({ name, before, after, back }) => {
  test('a deactivation ends keys at once, queues and held polls within a second', { timeout: 120_000 }, async () => {
    const who = await knownPerson();
    const queues = await Promise.all(
      Array.from({ length: 6 }, () => ok(who, 'POST', '/register', { event_types: ['message'] })),
    );
    const ended: number[] = [];
    const held = queues.map(async ({ queue_id, last_event_id }) => {
      const answer = await call(who, 'GET', '/events', { queue_id, last_event_id }).catch(() => undefined);
      ended.push(Date.now());
      return answer;
    });
    await pause(500);
    expect(ended).toEqual([]);
    await before();
    await ok(system.people.owner, 'DELETE', `/users/${who.user_id}`);
    const at = Date.now();
    await after();
    try {
      await expectNeverAgain(() => call(who, 'GET', '/users/me'), /^(USER_DEACTIVATED|INVALID_API_KEY)$/);
      await expectNeverAgain(
        () => call(who, 'POST', '/users/me/status', { status_text: 'here' }),
        /^USER_DEACTIVATED$/,
      );
      await expectNeverAgain(
        () => call(who, 'POST', '/messages', { type: 'direct', to: [who.user_id], content: 'here' }),
        /^USER_DEACTIVATED$/,
      );
      const answers = await Promise.race([Promise.all(held), pause(10_000)]);
      expect(answers, 'held polls').toBeDefined();
      console.log(
        `${name}: held polls ended after`,
        ended.map((end) => end - at).sort((a, b) => a - b),
        'ms',
      );
      for (const answer of answers ?? []) expect(answer?.body.events ?? []).toEqual([]);
      const [{ queue_id, last_event_id }] = queues as [Answer];
      await expectNeverAgain(
        () => call(who, 'GET', '/events', { queue_id, last_event_id, dont_block: true }),
        /^(USER_DEACTIVATED|BAD_EVENT_QUEUE_ID)$/,
      );
    } finally {
      await back();
    }
    await expectNeverAgain(() => call(who, 'GET', '/users/me'), /^USER_DEACTIVATED$/);
    expect(Math.max(...ended) - at).toBeLessThan(1_000);
  });

  test('a role is lost at once', { timeout: 120_000 }, async () => {
    const who = await knownPerson();
    await ok(system.people.owner, 'PATCH', `/users/${who.user_id}`, { role: 200 });
    const administers = () => call(who, 'PATCH', '/realm', { description: `by ${who.user_id} ${Math.random()}` });
    const posts = () => call(who, 'POST', '/messages', { type: 'channel', to: 'general', topic: 'role', content: 'x' });
    await ok(who, 'PATCH', '/realm', { description: 'before' });
    expect((await onAllGateways(posts)).map(({ status }) => status)).not.toContain(400);
    await before();
    await ok(system.people.owner, 'PATCH', `/users/${who.user_id}`, { role: 600 });
    await after();
    try {
      await expectNeverAgain(administers, /^BAD_REQUEST$/);
      await expectNeverAgain(posts, /^STREAM_DOES_NOT_EXIST$/);
      await expectNeverAgain(() => call(who, 'GET', '/streams/1'), /^BAD_REQUEST$/);
    } finally {
      await back();
    }
    await expectNeverAgain(posts, /^STREAM_DOES_NOT_EXIST$/);
  });

  test('a right that a group gave is lost at once', { timeout: 120_000 }, async () => {
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
    await before();
    await ok(owner, 'POST', `/user_groups/${group_id}/members`, { delete: [who.user_id] });
    await after();
    try {
      await expectNeverAgain(posts, /^BAD_REQUEST$/);
    } finally {
      await back();
    }
    await expectNeverAgain(posts, /^BAD_REQUEST$/);
  });
});
