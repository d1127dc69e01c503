import { connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const seconds = () => Date.now() / 1000;

describe('POST /users/me/presence', () => {
  test('returns the legacy form by address, or the modern form by ID with last_update_id or slim_presence', async () => {
    const { member, owner } = realm;
    const old = await member.ok('POST', '/users/me/presence', { status: 'active' });
    const mine = old.presences[member.email];
    expect(Object.keys(mine).sort()).toEqual(['aggregated', 'website']);
    expect(mine.website).toEqual({
      client: 'website',
      status: 'active',
      timestamp: expect.any(Number),
      pushable: false,
    });
    expect(mine.aggregated).toEqual({ client: 'website', status: 'active', timestamp: mine.website.timestamp });
    expect(Math.abs(seconds() - mine.website.timestamp)).toBeLessThan(60);
    expect(Math.abs(seconds() - old.server_timestamp)).toBeLessThan(60);
    expect([old.legacy_mirror_active, old.zephyr_mirror_active]).toEqual([false, false]);
    const modern = await owner.ok('POST', '/users/me/presence', { status: 'idle', last_update_id: -1 });
    expect(modern.presences[member.user_id]).toEqual({
      active_timestamp: mine.website.timestamp,
      idle_timestamp: mine.website.timestamp,
    });
    expect(modern.presences[owner.user_id].active_timestamp).toBe(0);
    const slim = await owner.ok('POST', '/users/me/presence', { status: 'idle', slim_presence: true });
    expect(Object.keys(slim.presences)).toContain(String(member.user_id));
  });

  test('returns only changes since the last update, and the same ID if there are none', async () => {
    const { member, member2, moderator } = realm;
    const first = await member.ok('POST', '/users/me/presence', { status: 'active', last_update_id: -1 });
    const none = await member.ok('POST', '/users/me/presence', {
      status: 'active',
      last_update_id: first.presence_last_update_id,
    });
    expect([none.presence_last_update_id, none.presences]).toEqual([first.presence_last_update_id, {}]);
    for (const who of [member2, moderator])
      await who.ok('POST', '/users/me/presence', { status: 'active', ping_only: true });
    const next = await member.ok('POST', '/users/me/presence', {
      status: 'active',
      last_update_id: first.presence_last_update_id,
    });
    expect(Object.keys(next.presences).map(Number).sort()).toEqual([member2.user_id, moderator.user_id].sort());
    expect(next.presence_last_update_id).toBeGreaterThan(first.presence_last_update_id);
    const ping = await member.ok('POST', '/users/me/presence', {
      status: 'idle',
      ping_only: true,
      new_user_input: true,
    });
    expect(ping).toMatchObject({ presence_last_update_id: -1 });
    expect([ping.presences, ping.server_timestamp]).toEqual([undefined, undefined]);
  });

  test('does not return the ID of data that a ping omits', async () => {
    const { member, member2 } = realm;
    const first = await member.ok('POST', '/users/me/presence', { status: 'active', last_update_id: -1 });
    const newcomer = await realm.person();
    for (const who of [member2, newcomer]) await who.ok('POST', '/users/me/presence', { status: 'active' });
    const ping = await member.ok('POST', '/users/me/presence', {
      status: 'active',
      ping_only: true,
      last_update_id: first.presence_last_update_id,
    });
    expect(ping.presence_last_update_id).toBe(first.presence_last_update_id);
    const next = await member.ok('POST', '/users/me/presence', {
      status: 'active',
      last_update_id: ping.presence_last_update_id,
    });
    expect(Object.keys(next.presences)).toContain(String(newcomer.user_id));
  });

  test('never returns a lower ID than the given one', async () => {
    const empty = await openRealm();
    await empty.owner.ok('PATCH', '/realm', { presence_disabled: true });
    for (const last_update_id of [-1, 0, 5]) {
      const answer = await empty.member.ok('POST', '/users/me/presence', { status: 'idle', last_update_id });
      expect(answer.presence_last_update_id).toBe(last_update_id);
    }
  });

  test('accepts only active and idle', async () => {
    const { status, body } = await realm.member.post('/users/me/presence', { status: 'away' });
    expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Invalid status']);
    expect((await realm.member.post('/users/me/presence')).body.var_name).toBe('status');
  });
});

describe('reading presence', () => {
  test('by GET /realm/presence returns both entries by address', async () => {
    await realm.member.ok('POST', '/users/me/presence', { status: 'active' });
    const { presences, server_timestamp } = await realm.guest.ok('GET', '/realm/presence');
    expect(presences[realm.member.email].website.client).toBe('website');
    expect(presences[realm.member.email].aggregated.pushable).toBeUndefined();
    expect(Math.abs(seconds() - server_timestamp)).toBeLessThan(60);
  });

  test('of one user works by ID and address, and fails for a missing user or a user without presence', async () => {
    const { member, owner } = realm;
    for (const who of [member.user_id, member.email]) {
      const { presence } = await owner.ok('GET', `/users/${who}/presence`);
      expect(presence.website.status).toBe('active');
      expect(presence.aggregated.timestamp).toBe(presence.website.timestamp);
    }
    const silent = await realm.person();
    for (const who of ['nobody@example.com', 999_999, silent.user_id]) {
      const { status, body } = await owner.get(`/users/${who}/presence`);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });

  test('by a register returns the requested form', async () => {
    const { member, owner } = realm;
    const old = await owner.ok('POST', '/register', { fetch_event_types: ['presence'] });
    expect(old.presences[member.email].website.status).toBe('active');
    const slim = await owner.ok('POST', '/register', { fetch_event_types: ['presence'], slim_presence: true });
    expect(slim.presences[member.user_id].active_timestamp).toBeGreaterThan(0);
    const delta = await owner.ok('POST', '/users/me/presence', {
      status: 'idle',
      last_update_id: slim.presence_last_update_id,
    });
    expect(Object.keys(delta.presences)).not.toContain(String(member.user_id));
  });
});

describe('a user who comes online', () => {
  test('causes one event to all users, in the form that each client supports', async () => {
    const newcomer = await realm.person();
    const types = { event_types: ['presence'], fetch_event_types: [] };
    const old = await realm.guest.queue(types);
    const slim = await realm.guest.queue({ ...types, slim_presence: true });
    const modern = await realm.owner.queue({ ...types, client_capabilities: { simplified_presence_events: true } });
    for (let repeat = 0; repeat < 3; repeat++) await newcomer.ok('POST', '/users/me/presence', { status: 'active' });
    const id = newcomer.user_id;
    const told = await old.next((event) => event.user_id === id);
    expect(told).toEqual({
      type: 'presence',
      id: told.id,
      user_id: id,
      email: newcomer.email,
      server_timestamp: expect.any(Number),
      presence: { website: { client: 'website', status: 'active', timestamp: expect.any(Number), pushable: false } },
    });
    expect((await slim.next((event) => event.user_id === id)).email).toBeUndefined();
    const simplified = await modern.next((event) => event.presences?.[id] !== undefined);
    const { website } = told.presence;
    expect(simplified).toEqual({
      type: 'presence',
      id: simplified.id,
      presences: { [id]: { active_timestamp: website.timestamp, idle_timestamp: website.timestamp } },
    });
    await newcomer.ok('POST', '/users/me/presence', { status: 'active' });
    await realm.owner.queue(types);
    await old.poll(true);
    expect(old.seen.filter((event) => event.user_id === id)).toHaveLength(1);
  });
});

describe('the privacy of presence', () => {
  test('has a placeholder address for a user who hides their address', async () => {
    const person = await realm.person();
    await person.ok('PATCH', '/settings', { email_address_visibility: 4 });
    const queue = await realm.guest.queue({ event_types: ['presence'], fetch_event_types: [] });
    await person.ok('POST', '/users/me/presence', { status: 'active' });
    const told = await queue.next((event) => event.user_id === person.user_id);
    expect(told.email).toBe(`user${person.user_id}@${realm.host}`);
  });

  test('reports a user who disables presence as long gone, and no longer lists them', async () => {
    const person = await realm.person();
    const types = { event_types: ['presence'], fetch_event_types: [] };
    await person.ok('POST', '/users/me/presence', { status: 'active' });
    const old = await realm.member.queue(types);
    const modern = await realm.member.queue({ ...types, client_capabilities: { simplified_presence_events: true } });
    await person.ok('PATCH', '/settings', { presence_enabled: false });
    const isGone = (event: Json) => event.user_id === person.user_id && event.presence.website.status === 'idle';
    const told = await old.next(isGone);
    const { timestamp } = told.presence.website;
    expect(told.server_timestamp - timestamp).toBeGreaterThan(199);
    await modern.next(({ presences }) => presences?.[person.user_id]?.active_timestamp <= timestamp);
    expect((await realm.member.ok('GET', '/realm/presence')).presences).not.toHaveProperty([person.email]);
  });

  test('reports a user who enables presence again as active', async () => {
    const person = await realm.person();
    await person.ok('POST', '/users/me/presence', { status: 'active' });
    await person.ok('PATCH', '/settings', { presence_enabled: false });
    const queue = await realm.member.queue({ event_types: ['presence'], fetch_event_types: [] });
    await person.ok('PATCH', '/settings', { presence_enabled: true });
    await queue.next(({ user_id, presence }) => user_id === person.user_id && presence.website.status === 'active');
    expect((await realm.member.ok('GET', '/realm/presence')).presences).toHaveProperty([person.email]);
  });

  test('reports no user as active who enables presence and disables it at once', async () => {
    const [person, other] = [await realm.person(), await realm.person()];
    for (const one of [person, other]) await one.ok('PATCH', '/settings', { presence_enabled: false });
    const queue = await realm.member.queue({ event_types: ['presence'], fetch_event_types: [] });
    await connected(async (holder) => {
      const row = "presence.consumer WHERE name = 'people' AND realm_id = $1";
      const offset = async () => (await holder.query(`SELECT position FROM ${row}`, [realm.id])).rows[0]?.position;
      await holder.query('BEGIN');
      await holder.query(`SELECT FROM ${row} FOR UPDATE`, [realm.id]);
      const before = await offset();
      for (const isOn of [true, false]) await person.ok('PATCH', '/settings', { presence_enabled: isOn });
      await holder.query('ROLLBACK');
      await expect.poll(offset).not.toBe(before);
    });
    await other.ok('PATCH', '/settings', { presence_enabled: true });
    const seen: number[] = [];
    await queue.next(({ user_id }) => seen.push(user_id) > 0 && user_id === other.user_id);
    expect(seen).not.toContain(person.user_id);
  });

  test('hides all users of a realm that disables presence', async () => {
    const hidden = await openRealm();
    await hidden.member.ok('POST', '/users/me/presence', { status: 'active' });
    await hidden.owner.ok('PATCH', '/realm', { presence_disabled: true });
    expect((await hidden.owner.ok('GET', '/realm/presence')).presences).toEqual({});
    const answer = await hidden.member2.ok('POST', '/users/me/presence', { status: 'active', last_update_id: -1 });
    expect([answer.presences, answer.presence_last_update_id]).toEqual([{}, -1]);
  });
});
