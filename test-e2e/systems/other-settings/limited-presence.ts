import type { System } from '@natter/local/system';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answer, request } from '../../api.ts';
import { system } from './system.ts';

type Name = keyof System['people'];
async function ok(who: Name, method: string, path: string, form: Record<string, unknown> = {}): Promise<Answer> {
  const { status, body } = await request(system.url, system.people[who], `${method} ${path}`, form);
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}
const known = async (): Promise<number[]> =>
  (await ok('guest', 'GET', '/users')).members
    .filter((user: Answer) => user.full_name !== 'Unknown user')
    .map((user: Answer) => user.user_id)
    .sort((a: number, b: number) => a - b);
const here = (who: Name) => ok(who, 'POST', '/users/me/presence', { status: 'active', ping_only: true });

/** Presence events of a queue that follow its `last_event_id`, up to an own message that is sent now. */
async function settled(who: Name, queue: Answer): Promise<Answer[]> {
  const { id } = await ok(who, 'POST', '/messages', {
    type: 'direct',
    to: [system.people[who].user_id],
    content: 'settled',
  });
  const seen: Answer[] = [];
  for (let last = queue.last_event_id; ; ) {
    const { events } = await ok(who, 'GET', '/events', { queue_id: queue.queue_id, last_event_id: last });
    for (const event of events) {
      last = queue.last_event_id = event.id;
      if (event.message?.id === id) return seen;
      if (event.type === 'presence') seen.push(event);
    }
  }
}

describe('presence in an organization with limited guests', () => {
  /** A channel of the guest and one other user; the guest can see no one else. */
  beforeAll(async () => {
    const { guest, member } = system.people;
    const { subscriptions } = await ok('guest', 'GET', '/users/me/subscriptions');
    const names = subscriptions.map((one: Answer) => one.name);
    if (names.length > 0) await ok('guest', 'DELETE', '/users/me/subscriptions', { subscriptions: names });
    const { user_groups } = await ok('owner', 'GET', '/user_groups');
    const members = user_groups.find((group: Answer) => group.name === 'role:members').id;
    await ok('owner', 'PATCH', '/realm', { can_access_all_users_group: { new: members } });
    await ok('owner', 'POST', '/users/me/subscriptions', {
      subscriptions: [{ name: 'shared' }],
      principals: [guest.user_id, member.user_id],
    });
    await ok('owner', 'DELETE', '/users/me/subscriptions', { subscriptions: ['shared'] });
  });

  test('a limited guest gets states and events of accessible users only, and other users of everybody', async () => {
    const { guest, member, member2 } = system.people;
    await expect.poll(known).toEqual([guest.user_id, member.user_id].sort((a, b) => a - b));
    const types = { event_types: ['presence', 'message'], fetch_event_types: [] };
    const modern = { ...types, client_capabilities: { simplified_presence_events: true } };
    const queues = {
      old: await ok('guest', 'POST', '/register', types),
      modern: await ok('guest', 'POST', '/register', modern),
    };
    const everyones = await ok('member', 'POST', '/register', types);
    for (const who of ['member2', 'member', 'guest'] as const) await here(who);

    const expected = [guest, member];
    const emails = expected.map((one) => one.email).sort();
    const ids = expected.map((one) => String(one.user_id)).sort();
    expect(Object.keys((await ok('guest', 'GET', '/realm/presence')).presences).sort()).toEqual(emails);
    expect(Object.keys((await ok('member', 'GET', '/realm/presence')).presences)).toContain(member2.email);

    const posted = await ok('guest', 'POST', '/users/me/presence', { status: 'active', last_update_id: -1 });
    expect(Object.keys(posted.presences).sort()).toEqual(ids);
    const legacy = await ok('guest', 'POST', '/users/me/presence', { status: 'active' });
    expect(Object.keys(legacy.presences).sort()).toEqual(emails);
    const delta = await ok('guest', 'POST', '/users/me/presence', { status: 'active', last_update_id: 1 });
    expect(Object.keys(delta.presences)).not.toContain(String(member2.user_id));

    for (const slim_presence of [true, false]) {
      const state = await ok('guest', 'POST', '/register', {
        fetch_event_types: ['presence'],
        event_types: [],
        slim_presence,
      });
      expect(Object.keys(state.presences).sort()).toEqual(slim_presence ? ids : emails);
    }

    expect((await ok('guest', 'GET', `/users/${member.user_id}/presence`)).presence.website.status).toBe('active');
    const ofNobody = await request(system.url, guest, 'GET /users/999999/presence');
    for (const who of [member2.user_id, member2.email]) {
      const { status, body } = await request(system.url, guest, `GET /users/${who}/presence`);
      expect([status, body]).toEqual([400, ofNobody.body]);
    }
    expect((await ok('member', 'GET', `/users/${member2.user_id}/presence`)).presence.website.status).toBe('active');

    // The server does not return acknowledged events again, so each poll continues after the last event.
    const seen: number[] = [];
    const poll = async () => {
      for (const event of await settled('member', everyones)) seen.push(event.user_id);
      return seen;
    };
    await expect.poll(poll).toEqual(expect.arrayContaining([member2.user_id, member.user_id, guest.user_id]));
    const told = (await settled('guest', queues.old)).map((event) => event.user_id);
    expect(new Set(told)).toEqual(new Set([guest.user_id, member.user_id]));
    const toldModern = (await settled('guest', queues.modern)).flatMap((event) => Object.keys(event.presences));
    expect(new Set(toldModern)).toEqual(new Set(ids));
  });

  test('a user who becomes accessible is shown from then on', async () => {
    const { guest, member2 } = system.people;
    await ok('member2', 'POST', '/messages', { type: 'direct', to: [guest.user_id], content: 'hello' });
    await expect
      .poll(async () => Object.keys((await ok('guest', 'GET', '/realm/presence')).presences))
      .toContain(member2.email);
  });
});
