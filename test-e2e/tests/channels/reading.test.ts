import { Client, type Json, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { badRequest, channel, group, nameOf, openQuietRealm, refused } from './setting.ts';

let realm: Realm;
let open: number;
let closed: number;
let hidden: number;
let web: number;
let archived: number;
beforeAll(async () => {
  realm = await openQuietRealm();
  const { owner, member } = realm;
  await owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  open = await channel(owner, [owner]);
  closed = await channel(member, [member, realm.guest], { invite_only: true });
  hidden = await channel(owner, [owner], { invite_only: true });
  web = await channel(owner, [owner], { is_web_public: true });
  archived = await channel(owner, [owner, member]);
  await owner.ok('DELETE', `/streams/${archived}`);
});

const listed = async (who: Client, form: Json = {}): Promise<number[]> => {
  const { streams } = await who.ok('GET', '/streams', form);
  return streams.map(({ stream_id }: Json) => stream_id).sort((a: number, b: number) => a - b);
};

describe('GET /streams', () => {
  test('lists public and subscribed channels', async () => {
    expect(await listed(realm.member)).toEqual([open, closed, web]);
    expect(await listed(realm.member2)).toEqual([open, web]);
    expect(await listed(realm.guest)).toEqual([closed]);
    expect(await listed(realm.owner)).toEqual([open, hidden, web]);
  });
  test('omits the kinds of channels that the request does not include', async () => {
    expect(await listed(realm.member, { include_public: false })).toEqual([closed]);
    expect(await listed(realm.member, { include_subscribed: false })).toEqual([open, web]);
    expect(await listed(realm.guest, { include_subscribed: false, include_web_public: true })).toEqual([web]);
    expect(await listed(realm.guest, { include_web_public: true })).toEqual([closed, web]);
  });
  test('returns archived channels if exclude_archived is false', async () => {
    expect(await listed(realm.member, { exclude_archived: false })).toEqual([open, closed, web, archived]);
  });
  test('returns all channels that the caller may know', async () => {
    expect(await listed(realm.administrator, { include_all: true, exclude_archived: false })).toEqual([
      open,
      closed,
      hidden,
      web,
      archived,
    ]);
    const managed = await channel(realm.owner, [], {
      invite_only: true,
      can_administer_channel_group: await group(realm, [realm.member2]),
    });
    expect(await listed(realm.member2)).toEqual([open, web]);
    expect(await listed(realm.member2, { include_all: true })).toEqual([open, web, managed]);
    expect(await listed(realm.guest, { include_all: true })).toEqual([closed, web]);
    await realm.owner.ok('DELETE', `/streams/${managed}`);
  });
  test('refuses the deprecated include_all_active of users who are not administrators', async () => {
    expect(await listed(realm.administrator, { include_all_active: true })).toEqual([open, closed, hidden, web]);
    for (const who of ['moderator', 'member', 'guest'] as const)
      expect(refused(await realm[who].get('/streams', { include_all_active: true })), who).toEqual(badRequest);
  });
  test('returns the channels whose messages the caller may read', async () => {
    const only = { include_public: false, include_subscribed: false, include_can_access_content: true };
    expect(await listed(realm.administrator, only)).toEqual([open, web]);
    expect(await listed(realm.guest, only)).toEqual([closed, web]);
  });
  test('returns is_default if the request includes it', async () => {
    await realm.owner.ok('POST', '/default_streams', { stream_id: open });
    const { streams } = await realm.member.ok('GET', '/streams', { include_default: true });
    const isDefault = Object.fromEntries(streams.map((one: Json) => [one.stream_id, one.is_default]));
    expect(isDefault).toEqual({ [open]: true, [closed]: false, [web]: false });
    const plain = await realm.member.ok('GET', '/streams');
    expect(plain.streams[0]).not.toHaveProperty('is_default');
    await realm.owner.ok('DELETE', '/default_streams', { stream_id: open });
  });
});

test('every endpoint returns the same error for an inaccessible channel and a missing one', async () => {
  const { member2, guest } = realm;
  const missing = 99_999_999;
  const ask: [string, (who: Client, id: number) => Promise<Json>][] = [
    ['GET /streams/{id}', (who, id) => who.get(`/streams/${id}`)],
    ['GET members', (who, id) => who.get(`/streams/${id}/members`)],
    ['GET email_address', (who, id) => who.get(`/streams/${id}/email_address`)],
    ['GET subscription', (who, id) => who.get(`/users/${who.user_id}/subscriptions/${id}`)],
    ['PATCH', (who, id) => who.patch(`/streams/${id}`, { description: 'mine' })],
    ['DELETE', (who, id) => who.delete(`/streams/${id}`)],
    ['POST default', (who, id) => who.post('/default_streams', { stream_id: id })],
    ['PATCH own', (who, id) => who.patch(`/users/me/subscriptions/${id}`, { property: 'is_muted', value: true })],
  ];
  for (const [operation, call] of ask)
    for (const who of [member2, guest]) {
      const [known, unknown] = [await call(who, hidden), await call(who, missing)];
      expect(known.status, operation).toBe(400);
      expect(JSON.parse(JSON.stringify(known.body).replaceAll(String(hidden), 'ID')), operation).toEqual(
        JSON.parse(JSON.stringify(unknown.body).replaceAll(String(missing), 'ID')),
      );
    }
  const name = await nameOf(realm.owner, hidden);
  expect((await member2.get('/get_stream_id', { stream: name })).body.msg).toBe(`Invalid channel name '${name}'`);
  expect((await member2.get('/get_stream_id', { stream: 'nothing' })).body.msg).toBe("Invalid channel name 'nothing'");
});

describe('include_subscribers', () => {
  test('omits the lists if false, and returns them if true or partial (in full below 250 subscribers)', async () => {
    const lists = async (form: Json) => {
      const { subscriptions } = await realm.member.ok('GET', '/users/me/subscriptions', form);
      return subscriptions.map(({ stream_id, subscribers, partial_subscribers }: Json) => [
        stream_id,
        subscribers,
        partial_subscribers,
      ]);
    };
    const users = [realm.member.user_id, realm.guest.user_id];
    expect(await lists({})).toEqual([[closed, undefined, undefined]]);
    for (const include_subscribers of ['true', 'partial'])
      expect(await lists({ include_subscribers })).toEqual([[closed, users, undefined]]);
    const state = await realm.member2.ok('POST', '/register', {
      fetch_event_types: ['subscription'],
      include_subscribers: true,
    });
    expect(state.never_subscribed.map(({ stream_id, subscribers }: Json) => [stream_id, subscribers])).toEqual([
      [open, [realm.owner.user_id]],
      [web, [realm.owner.user_id]],
    ]);
  });
});

test('members, subscription status and channels of a user are limited to channels that the caller can see', async () => {
  const { member, member2, guest, owner, administrator } = realm;
  expect((await guest.ok('GET', `/streams/${closed}/members`)).subscribers).toEqual([member.user_id, guest.user_id]);
  expect((await administrator.ok('GET', `/streams/${closed}/members`)).subscribers).toHaveLength(2);
  const isSubscribed = async (who: Client, id: number) =>
    (await member.ok('GET', `/users/${who.user_id}/subscriptions/${id}`)).is_subscribed;
  expect([await isSubscribed(guest, closed), await isSubscribed(member2, closed)]).toEqual([true, false]);
  expect(refused(await member.get(`/users/99999999/subscriptions/${closed}`))).toEqual(badRequest);
  const channels = async (who: Client) =>
    (await who.ok('GET', `/users/${owner.user_id}/channels`)).subscribed_channel_ids;
  expect(await channels(administrator)).toEqual([open, hidden, web]);
  expect(await channels(member)).toEqual([open, web]);
  expect(await channels(guest)).toEqual([web]);
});

test('a bot can list the channels of its owner, including private ones', async () => {
  const { member } = realm;
  const full_name = 'Lists channels';
  const made = await member.ok('POST', '/bots', { full_name, short_name: 'lists' });
  const { email } = (await member.ok('GET', `/users/${made.user_id}`)).user;
  const bot = new Client(member, { ...made, email, full_name });
  const only = { include_public: false, include_owner_subscribed: true };
  expect(await listed(bot, only)).toEqual([closed]);
  expect(await listed(bot, { include_public: false })).toEqual([]);
  expect(await listed(member, { ...only, include_subscribed: false })).toEqual([]);
});

test('a guest cannot read the subscriptions of a user they cannot see', async () => {
  const { owner, guest, member2 } = realm;
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const idOf = (name: string): number => user_groups.find((one: Json) => one.name === name).id;
  const limit = (name: string) => owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: idOf(name) } });
  await limit('role:members');
  for (const path of [`/subscriptions/${closed}`, '/channels']) {
    const missing = await guest.get(`/users/99999999${path}`);
    expect((await guest.get(`/users/${member2.user_id}${path}`)).body).toEqual(missing.body);
    expect((await guest.get(`/users/${realm.member.user_id}${path}`)).status).toBe(200);
  }
  await limit('role:everyone');
});

test('the email address of a channel is not available with another person as its sender', async () => {
  const address = async (form: Json = {}) =>
    (await realm.member.ok('GET', `/streams/${open}/email_address`, form)).email;
  expect(await address()).toMatch(/^channel-\d+\.[0-9a-f]{32}@/);
  expect(await address({ sender_id: realm.member.user_id })).toBe(await address());
  expect(refused(await realm.member.get(`/streams/${open}/email_address`, { sender_id: realm.owner.user_id }))).toEqual(
    badRequest,
  );
});

test('a change of group members changes access to a private channel at once and sends events', async () => {
  const { owner, member2, guest } = realm;
  const friends = await group(realm, []);
  const id = await channel(owner, [owner], { invite_only: true, can_subscribe_group: friends });
  const queue = await member2.queue({ event_types: ['stream'] });
  const guestQueue = await guest.queue({ event_types: ['stream'] });
  await owner.ok('POST', `/user_groups/${friends}/members`, { add: [member2.user_id, guest.user_id] });
  expect((await member2.get(`/streams/${id}`)).status).toBe(200);
  expect(await queue.next((event) => event.op === 'create')).toMatchObject({ streams: [{ stream_id: id }] });
  await owner.ok('POST', `/user_groups/${friends}/members`, { delete: [member2.user_id] });
  expect((await member2.get(`/streams/${id}`)).status).toBe(400);
  expect(await queue.next((event) => event.op === 'delete')).toMatchObject({ stream_ids: [id] });
  // A member of a subgroup has access too.
  const inner = await group(realm, [member2]);
  await owner.ok('POST', `/user_groups/${friends}/subgroups`, { add: [inner] });
  expect((await member2.get(`/streams/${id}`)).status).toBe(200);
  // Guests do not have this permission, even as members of the group.
  expect((await guest.get(`/streams/${id}`)).status).toBe(400);
  await guestQueue.poll(true);
  expect(guestQueue.seen).toEqual([]);
});

test('a group that a channel uses cannot be deactivated, and the objection names the channel', async () => {
  const friends = await group(realm, [realm.member]);
  const id = await channel(realm.owner, [], {
    can_subscribe_group: friends,
    can_send_message_group: { direct_members: [], direct_subgroups: [friends] },
  });
  const { status, body } = await realm.owner.post(`/user_groups/${friends}/deactivate`);
  expect([status, body.code, body.objections]).toEqual([
    400,
    'CANNOT_DEACTIVATE_GROUP_IN_USE',
    [{ type: 'channel', channel_id: id, settings: ['can_send_message_group', 'can_subscribe_group'] }],
  ]);
  const unused = await group(realm, []);
  await realm.owner.ok('POST', `/user_groups/${unused}/deactivate`);
  const late = await realm.owner.post('/channels/create', {
    name: 'late',
    subscribers: [],
    can_subscribe_group: unused,
  });
  expect([late.status, late.body.msg]).toEqual([400, 'User group is deactivated.']);
});

test('of a concurrent assignment and deactivation of a group, exactly one succeeds', async () => {
  for (let round = 0; round < 10; round++) {
    const friends = await group(realm, []);
    const id = await channel(realm.owner);
    const [assigned, ended] = await Promise.all([
      realm.owner.patch(`/streams/${id}`, { can_subscribe_group: { new: friends } }),
      realm.owner.post(`/user_groups/${friends}/deactivate`),
    ]);
    expect(
      [assigned.status, ended.status].filter((status) => status === 200),
      JSON.stringify([assigned.body, ended.body]),
    ).toHaveLength(1);
  }
});

test('objections do not reveal channels that the caller cannot see, or their number', async () => {
  const { owner, member, member2 } = realm;
  const form = { name: 'theirs', description: '', members: [member2.user_id] };
  const { group_id } = await member.ok('POST', '/user_groups/create', form);
  const senders = { can_send_message_group: group_id };
  const seen = await channel(owner, [owner], senders);
  const unseen = [
    await channel(owner, [owner], { ...senders, invite_only: true }),
    await channel(owner, [owner], { ...senders, invite_only: true }),
  ];
  const objections = async (who: Client) => (await who.post(`/user_groups/${group_id}/deactivate`)).body.objections;
  const named = (channel_id: number) => ({ type: 'channel', channel_id, settings: ['can_send_message_group'] });
  expect(await objections(member)).toEqual([named(seen), { type: 'channel', settings: [] }]);
  expect(await objections(owner)).toEqual([seen, ...unseen].map(named));
});
