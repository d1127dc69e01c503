import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Client, type Json, openRealm, type Queue, type Realm } from '../../../libs/testkit/src/index.ts';
import { randomOf } from '../../kills.ts';

let realm: Realm;
let membersGroup: number;
let everyoneGroup: number;
const subscribe = (who: Client, channel: string, people: Client[]) =>
  who.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: channel }],
    principals: people.map((one) => one.user_id),
  });
const unsubscribe = (channel: string, person: Client) =>
  realm.owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: [channel], principals: [person.user_id] });
const limitTo = (group: number) => realm.owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: group } });
const idsOf = (users: Json[]): number[] => users.map((user) => user.user_id);
const known = async (guest: Client): Promise<number[]> =>
  (await guest.ok('GET', '/users')).members
    .filter((user: Json) => user.full_name !== 'Unknown user')
    .map((user: Json) => user.user_id)
    .sort((a: number, b: number) => a - b);
const about = (person: Client) => (event: Json) =>
  event.type === 'realm_user' && event.person?.user_id === person.user_id;
/** The first matching event, including earlier ones. */
const first = async (queue: Queue, fits: (event: Json) => boolean): Promise<Json> =>
  queue.seen.find(fits) ?? queue.next(fits);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const capable = { user_list_incomplete: true, include_deactivated_groups: true };

beforeAll(async () => {
  realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  const idOf = (name: string): number => user_groups.find((group: Json) => group.name === name).id;
  membersGroup = idOf('role:members');
  everyoneGroup = idOf('role:everyone');
});
beforeEach(async () => {
  await limitTo(membersGroup);
});

test('can_access_all_users_group accepts only the groups everyone and members', async () => {
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  for (const group of user_groups.filter((one: Json) => !['role:everyone', 'role:members'].includes(one.name))) {
    const { status, body } = await realm.owner.patch('/realm', { can_access_all_users_group: { new: group.id } });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  }
});

describe('a guest', () => {
  test('sees themselves, users who share a channel with them, and users who wrote to them', async () => {
    const guest = await realm.person({ role: 'guest' });
    const sharing = await realm.person();
    const writing = await realm.person();
    expect(await known(guest)).toEqual([guest.user_id]);
    await subscribe(realm.owner, 'shared', [guest, sharing]);
    await writing.ok('POST', '/messages', { type: 'direct', to: [guest.user_id], content: 'hello' });
    await expect
      .poll(() => known(guest))
      .toEqual([guest, sharing, writing].map((one) => one.user_id).sort((a, b) => a - b));
  });

  test('gets a stub for other users in the list, and an error by their ID or address', async () => {
    const guest = await realm.person({ role: 'guest' });
    const stranger = await realm.person();
    const { members } = await guest.ok('GET', '/users', { user_ids: [stranger.user_id] });
    expect(members).toMatchObject([
      {
        user_id: stranger.user_id,
        full_name: 'Unknown user',
        email: `user${stranger.user_id}@${realm.host}`,
        delivery_email: null,
        is_active: true,
        is_bot: false,
        role: 400,
      },
    ]);
    for (const who of [stranger.user_id, stranger.email, `user${stranger.user_id}@${realm.host}`]) {
      const hidden = await guest.get(`/users/${who}`);
      const missing = await guest.get('/users/999999999');
      expect([hidden.status, hidden.body]).toEqual([400, missing.body]);
    }
  });

  test('cannot message, mute or read the status of a user they cannot see', async () => {
    const guest = await realm.person({ role: 'guest' });
    const stranger = await realm.person();
    await stranger.ok('POST', '/users/me/status', { status_text: 'out' });
    const direct = { type: 'direct', content: 'hello' };
    const toStranger = await guest.post('/messages', { ...direct, to: [stranger.user_id] });
    expect([toStranger.status, toStranger.body.msg]).toEqual([400, `Invalid user ID ${stranger.user_id}`]);
    const byEmail = await guest.post('/messages', { ...direct, to: [stranger.email] });
    expect([byEmail.status, byEmail.body.msg]).toEqual([400, `Invalid email '${stranger.email}'`]);
    const typing = await guest.post('/typing', { op: 'start', to: [stranger.user_id] });
    expect([typing.status, typing.body.msg]).toEqual([400, `Invalid user ID ${stranger.user_id}`]);
    expect((await guest.post(`/users/me/muted_users/${stranger.user_id}`)).body.msg).toBe('No such user');
    expect((await guest.delete(`/users/me/muted_users/${stranger.user_id}`)).body.msg).toBe('No such user');
    expect((await guest.get(`/users/${stranger.user_id}/status`)).body.msg).toBe('No such user');
    const sentBy = (email: string) =>
      guest.get('/messages', { anchor: 'newest', num_before: 1, num_after: 0, narrow: [['sender', email]] });
    expect((await sentBy(stranger.email)).body.code).toBe('BAD_NARROW');
    expect((await sentBy(guest.email)).status).toBe(200);
    const state = await guest.ok('POST', '/register', { fetch_event_types: ['user_status'], event_types: [] });
    expect(state.user_status).toEqual({});
    await stranger.ok('POST', '/messages', { ...direct, to: [guest.user_id] });
    await expect
      .poll(async () => (await guest.post('/messages', { ...direct, to: [stranger.user_id] })).status)
      .toBe(200);
    expect(await guest.ok('GET', `/users/${stranger.user_id}/status`)).toMatchObject({
      status: { status_text: 'out' },
    });
  });

  test('can name only visible users in profile fields and drafts', async () => {
    const guest = await realm.person({ role: 'guest' });
    const [known, stranger] = [await realm.person(), await realm.person()];
    await subscribe(realm.owner, 'mentors', [guest, known]);
    const { id } = await realm.owner.ok('POST', '/realm/profile_fields', { name: 'Mentor', field_type: 6 });
    const name = ({ user_id }: { user_id: number }) =>
      guest.patch('/users/me/profile_data', { data: [{ id, value: [user_id] }] });
    const draft = (to: number) =>
      guest.post('/drafts', { drafts: [{ type: 'private', to: [to], topic: '', content: 'hello' }] });
    await expect.poll(async () => (await name(known)).status).toBe(200);
    const nobody = 999_999_999;
    const refusals = await Promise.all([name(stranger), name({ user_id: nobody })]);
    const [ofStranger, ofNobody] = refusals.map(({ status, body }) => [status, body.msg.replace(/\d+/g, 'ID')]);
    expect(ofStranger).toEqual(ofNobody);
    expect(ofNobody?.[0]).toBe(400);
    expect((await draft(known.user_id)).status).toBe(200);
    for (const to of [stranger.user_id, nobody]) {
      const { status, body } = await draft(to);
      expect([status, body.msg]).toEqual([400, `Invalid user ID ${to}`]);
    }
  });

  test('sees only visible users in the members of groups', async () => {
    const guest = await realm.person({ role: 'guest' });
    const friend = await realm.person();
    const stranger = await realm.person();
    const { group_id } = await realm.owner.ok('POST', '/user_groups/create', {
      name: `team ${guest.user_id}`,
      description: '',
      members: [friend.user_id, stranger.user_id, guest.user_id],
    });
    await subscribe(realm.owner, `of ${friend.user_id}`, [guest, friend]);
    const expected = [friend.user_id, guest.user_id].sort((a, b) => a - b);
    const listed = async () => (await guest.ok('GET', `/user_groups/${group_id}/members`)).members;
    await expect.poll(listed).toEqual(expected);
    const { user_groups } = await guest.ok('GET', '/user_groups');
    expect(user_groups.find((group: Json) => group.id === group_id).members).toEqual(expected);
    const state = await guest.ok('POST', '/register', { fetch_event_types: ['realm_user_groups'], event_types: [] });
    expect(state.realm_user_groups.find((group: Json) => group.id === group_id).members).toEqual(expected);
    expect((await guest.get(`/user_groups/${group_id}/members/${stranger.user_id}`)).status).toBe(400);
  });

  test('gets stubs of other users in a register, or no entries with user_list_incomplete', async () => {
    const guest = await realm.person({ role: 'guest' });
    const stranger = await realm.person();
    const register = (client_capabilities: Json) =>
      guest.ok('POST', '/register', { fetch_event_types: ['realm_user'], event_types: [], client_capabilities });
    const whole = (await register({})).realm_users;
    expect(whole.find((user: Json) => user.user_id === stranger.user_id)).toMatchObject({ full_name: 'Unknown user' });
    expect(JSON.stringify(whole)).not.toContain(stranger.full_name);
    const { realm_users, cross_realm_bots } = await register(capable);
    expect(idsOf(realm_users)).toEqual([guest.user_id]);
    expect(cross_realm_bots.length).toBe(2);
  });

  test('does not learn from reactions in a web-public channel who somebody is', async () => {
    const { owner } = realm;
    const [guest, stranger] = [await realm.person({ role: 'guest' }), await realm.person()];
    await owner.ok('PATCH', '/realm', { enable_spectator_access: true });
    const subscribers = [stranger.user_id];
    const to = (await owner.ok('POST', '/channels/create', { name: 'web', is_web_public: true, subscribers })).id;
    const { id } = await owner.ok('POST', '/messages', { type: 'channel', to, topic: 'a', content: 'hello' });
    const react = (who: Client) => who.ok('POST', `/messages/${id}/reactions`, { emoji_name: 'tada' });
    await guest.ok('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
    const queue = await guest.queue({ client_capabilities: capable, event_types: ['reaction'] });
    await react(stranger);
    expect((await queue.next(() => true)).user).toMatchObject({ full_name: 'Unknown user' });
  });

  test('does not see the identity of an unknown user in messages, reactions and typing in channels', async () => {
    const guest = await realm.person({ role: 'guest' });
    const other = await realm.person();
    const stranger = await realm.person({ full_name: 'Somebody Secret' });
    const name = `open ${guest.user_id}`;
    await subscribe(realm.owner, name, [guest, other]);
    const { stream_id } = await realm.owner.ok('GET', '/get_stream_id', { stream: name });
    const client_capabilities = { ...capable, stream_typing_notifications: true };
    const queue = await guest.queue({ client_capabilities });
    const open = await other.queue({ client_capabilities });
    const form = { type: 'stream', to: stream_id, topic: 'a', content: 'hello' };
    const { id } = await stranger.ok('POST', '/messages', form);
    const own = await other.ok('POST', '/messages', { ...form, content: 'known' });
    await stranger.ok('POST', `/messages/${own.id}/reactions`, { emoji_name: 'tada' });
    await stranger.ok('POST', '/typing', { op: 'start', type: 'stream', stream_id, topic: 'a' });

    const email = `user${stranger.user_id}@${realm.host}`;
    const shown = { sender_id: stranger.user_id, sender_full_name: 'Unknown user', sender_email: email };
    const isSent = (event: Json) => event.type === 'message' && event.message.id === id;
    expect((await first(queue, isSent)).message).toMatchObject(shown);
    expect((await first(open, isSent)).message.sender_full_name).toBe('Somebody Secret');
    const reaction = await first(queue, (event) => event.type === 'reaction');
    expect(reaction.user).toMatchObject({ user_id: stranger.user_id, full_name: 'Unknown user', email });
    expect((await first(queue, (event) => event.type === 'typing')).sender).toEqual({
      user_id: stranger.user_id,
      email,
    });
    const read = { anchor: 'newest', num_before: 5, num_after: 0, narrow: [['channel', name]] };
    const { messages } = await guest.ok('GET', '/messages', read);
    expect(messages.find((message: Json) => message.id === id)).toMatchObject(shown);
    expect(messages.find((message: Json) => message.id === own.id)).toMatchObject({
      sender_full_name: other.full_name,
      reactions: [{ user: { full_name: 'Unknown user' } }],
    });
    expect((await guest.ok('GET', `/messages/${id}`)).message).toMatchObject(shown);
    expect(JSON.stringify([queue.seen, messages])).not.toContain('Somebody Secret');

    await subscribe(realm.owner, name, [stranger]);
    const whole = async () => (await guest.ok('GET', `/messages/${id}`)).message.sender_full_name;
    await expect.poll(whole).toBe('Somebody Secret');
  });

  test('does not see the identity of unknown users in typing events before a message is sent', async () => {
    const guest = await realm.person({ role: 'guest' });
    const stranger = await realm.person();
    const friend = await realm.person();
    const member = await realm.person();
    await subscribe(realm.owner, `typing ${guest.user_id}`, [guest, friend]);
    await expect.poll(() => known(guest)).toContain(friend.user_id);
    const [queue, open] = [await guest.queue({}), await member.queue({})];
    const to = [guest.user_id, friend.user_id, member.user_id];
    const typed = (event: Json) => event.type === 'typing' && event.op === 'start';
    const shownTo = ({ sender, recipients }: Json) => ({ sender, recipients: new Set(recipients) });
    const shown = (hidden: Client[]) => {
      const [sender, ...others] = [stranger, guest, friend, member].map((one) => ({
        user_id: one.user_id,
        email: hidden.includes(one) ? `user${one.user_id}@${realm.host}` : one.email,
      }));
      return { sender, recipients: new Set([sender, ...others]) };
    };
    await stranger.ok('POST', '/typing', { op: 'start', type: 'direct', to });
    expect(shownTo(await first(queue, typed))).toEqual(shown([stranger, member]));
    expect(shownTo(await first(open, typed))).toEqual(shown([]));
    await stranger.ok('POST', '/messages', { type: 'direct', to, content: 'hello' });
    await stranger.ok('POST', '/typing', { op: 'start', type: 'direct', to });
    expect(shownTo(await queue.next(typed))).toEqual(shown([]));
  });

  test('receives events when a user becomes visible and when a user is no longer visible', async () => {
    const guest = await realm.person({ role: 'guest' });
    const friend = await realm.person();
    await friend.ok('POST', '/users/me/status', { status_text: 'busy' });
    const queue = await guest.queue({
      client_capabilities: capable,
      event_types: ['realm_user', 'user_status', 'user_group'],
    });
    const old = await guest.queue({ event_types: ['realm_user'] });
    const channel = `told ${friend.user_id}`;
    await subscribe(realm.owner, channel, [guest, friend]);
    const added = await queue.next(about(friend));
    expect(added).toMatchObject({ op: 'add', person: { full_name: friend.full_name, delivery_email: friend.email } });
    const status = await first(queue, (event) => event.type === 'user_status');
    expect(status).toMatchObject({ user_id: friend.user_id, status_text: 'busy' });
    const group = await first(queue, (event) => event.type === 'user_group' && event.user_ids.includes(friend.user_id));
    expect(group.op).toBe('add_members');

    await unsubscribe(channel, friend);
    const removed = await queue.next((event) => about(friend)(event) && event.op !== 'add');
    expect(removed).toMatchObject({ op: 'remove', person: { user_id: friend.user_id } });
    await old.next((event) => about(friend)(event) && event.op === 'remove');
    const isStub = (event: Json) => about(friend)(event) && event.person.full_name === 'Unknown user';
    const stub = await first(old, (event) => isStub(event) && event.op === 'add');
    expect(stub.person.email).toBe(`user${friend.user_id}@${realm.host}`);
    expect(await known(guest)).not.toContain(friend.user_id);
  });

  test('does not receive events about users they cannot see', async () => {
    const guest = await realm.person({ role: 'guest' });
    const stranger = await realm.person();
    const queue = await guest.queue({ client_capabilities: capable });
    const old = await guest.queue({ event_types: ['realm_user'] });
    await realm.owner.ok('PATCH', `/users/${stranger.user_id}`, { full_name: 'Somebody Secret', role: 300 });
    await stranger.ok('POST', '/users/me/status', { status_text: 'secret' });
    const newcomer = await realm.person({ full_name: 'Newcomer Secret' });
    await realm.owner.ok('DELETE', `/users/${stranger.user_id}`);
    const seen = await queue.settle();
    expect(seen.filter((event) => ['realm_user', 'user_status', 'user_group'].includes(event.type))).toEqual([]);
    const stub = await old.next(about(newcomer));
    expect(stub).toMatchObject({ op: 'add', person: { user_id: newcomer.user_id, full_name: 'Unknown user' } });
    expect(JSON.stringify(old.seen)).not.toContain('Secret');
  });

  test('who becomes a member sees all users, and a member who becomes a guest does not', async () => {
    const person = await realm.person({ role: 'guest' });
    const other = await realm.person();
    const queue = await person.queue({ client_capabilities: capable, event_types: ['realm_user'] });
    await realm.owner.ok('PATCH', `/users/${person.user_id}`, { role: 400 });
    expect((await first(queue, about(other))).op).toBe('add');
    expect(await known(person)).toContain(other.user_id);
    await realm.owner.ok('PATCH', `/users/${person.user_id}`, { role: 600 });
    expect((await queue.next((event) => about(other)(event) && event.op === 'remove')).op).toBe('remove');
    expect(await known(person)).toEqual([person.user_id]);
  });
});

test('channels and direct messages from before a limit count for visibility', async () => {
  await limitTo(everyoneGroup);
  const guest = await realm.person({ role: 'guest' });
  const sharing = await realm.person();
  const writing = await realm.person();
  const stranger = await realm.person();
  await subscribe(realm.owner, 'old one', [guest, sharing]);
  await writing.ok('POST', '/messages', { type: 'direct', to: [guest.user_id], content: 'hello' });
  const queue = await guest.queue({ client_capabilities: capable, event_types: ['realm_user'] });
  expect(await known(guest)).toContain(stranger.user_id);
  await limitTo(membersGroup);
  expect(await known(guest)).toEqual([guest, sharing, writing].map((one) => one.user_id).sort((a, b) => a - b));
  expect((await first(queue, about(stranger))).op).toBe('remove');
  expect(queue.seen.filter((event) => about(sharing)(event) || about(writing)(event))).toEqual([]);
  await limitTo(everyoneGroup);
  expect((await queue.next((event) => about(stranger)(event) && event.op === 'add')).person.full_name).toBe(
    stranger.full_name,
  );
  expect(await known(guest)).toContain(stranger.user_id);
});

test(`state plus events equals a fresh register while guests come, go and are limited (seed ${seed})`, async () => {
  const random = randomOf(seed);
  const guests = [await realm.person({ role: 'guest' }), await realm.person({ role: 'guest' })];
  const people = [...guests, await realm.person(), await realm.person(), await realm.person()];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const forms = [{}, capable].map((client_capabilities) => ({
    client_capabilities,
    client_gravatar: false,
    fetch_event_types: ['realm_user', 'realm_user_groups', 'user_status'],
    event_types: ['realm_user', 'user_group', 'user_status'],
  }));
  const following: { queue: Queue; form: Json; state: Json }[] = [];
  for (const guest of guests)
    for (const form of forms) {
      const queue = await guest.queue(form);
      following.push({ queue, form, state: stateOf(queue.state) });
    }
  const steps: (() => Promise<unknown>)[] = [
    () => subscribe(realm.owner, pick(['s1', 's2', 's3']), [pick(people), pick(people)]),
    () => subscribe(realm.owner, pick(['s1', 's2', 's3']), [pick(people), pick(people)]),
    () => unsubscribe(pick(['s1', 's2', 's3']), pick(people)),
    () => pick(people).post('/messages', { type: 'direct', to: [pick(people).user_id], content: 'hello' }),
    () =>
      realm.owner.ok('PATCH', `/users/${pick(people).user_id}`, {
        full_name: `Name ${Math.floor(random() * 1000)}`,
      }),
    () => realm.owner.ok('PATCH', `/users/${pick(people).user_id}`, { role: pick([400, 600]) }),
    () => pick(people).ok('POST', '/users/me/status', { status_text: pick(['', 'a', 'b']) }),
    () => limitTo(pick([membersGroup, membersGroup, everyoneGroup])),
    () => realm.person({ role: pick(['member', 'guest'] as const) }),
  ];
  await Promise.all(['s1', 's2', 's3'].map((name) => subscribe(realm.owner, name, [realm.owner])));
  for (let round = 0; round < 25; round++)
    await Promise.all([pick(steps)(), pick(steps)(), pick(steps)()].map((step) => step.catch(() => undefined)));
  for (const { queue, form, state } of following) {
    let applied = 0;
    const problem = async (): Promise<string> => {
      const register = await queue.client.ok('POST', '/register', form);
      // A user may have a limited number of queues.
      await queue.client.ok('DELETE', '/events', { queue_id: register.queue_id });
      const fresh = stateOf(register);
      while ((await queue.poll(true)).length > 0);
      for (; applied < queue.seen.length; applied++) apply(state, queue.seen[applied]);
      try {
        expect(state).toEqual(fresh);
        return '';
      } catch (error) {
        return String(error);
      }
    };
    await expect.poll(problem, { interval: 100 }).toBe('');
  }
});

function stateOf(register: Json): Json {
  const users = [...register.realm_users, ...register.realm_non_active_users];
  return {
    users: Object.fromEntries(users.map((user: Json) => [user.user_id, kept(user)])),
    groups: Object.fromEntries(register.realm_user_groups.map((group: Json) => [group.id, [...group.members]])),
    statuses: { ...register.user_status },
  };
}

const kept = ({ profile_data, avatar_url, ...user }: Json): Json => user;

function apply(state: Json, event: Json): void {
  const { type, op, person } = event;
  if (type === 'realm_user' && op === 'add') state.users[person.user_id] = kept(person);
  if (type === 'realm_user' && op === 'remove') delete state.users[person.user_id];
  if (type === 'realm_user' && op === 'update' && state.users[person.user_id]) {
    const { role } = person;
    const flags = role === undefined ? {} : { is_owner: role === 100, is_admin: role <= 200, is_guest: role === 600 };
    Object.assign(state.users[person.user_id], person, flags);
  }
  if (type === 'user_group' && (op === 'add_members' || op === 'remove_members')) {
    const members = new Set<number>(state.groups[event.group_id]);
    for (const id of event.user_ids) op === 'add_members' ? members.add(id) : members.delete(id);
    state.groups[event.group_id] = [...members].sort((a, b) => a - b);
  }
  if (type === 'user_status') {
    const { user_id, type: _, id, ...changes } = event;
    const merged = { ...state.statuses[user_id], ...changes };
    if (changes.emoji_name === '') Object.assign(merged, { emoji_code: '', reaction_type: '' });
    const set = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== '' && value !== false));
    if (Object.keys(set).length === 0) delete state.statuses[user_id];
    else state.statuses[user_id] = set;
  }
}
