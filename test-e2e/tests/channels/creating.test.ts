import type { Client, Json, Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { badRequest, channel, freshName, nameOf, openQuietRealm, refused, standing, streamOf } from './setting.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openQuietRealm();
});

describe('POST /channels/create (4.5)', () => {
  test('subscribes exactly the listed users, and the creator only if listed', async () => {
    const { member, member2, guest } = realm;
    const id = await channel(member, [member2, guest], { description: 'for *two*' });
    expect([await standing(member, id), await standing(member2, id), await standing(guest, id)]).toEqual([
      'never_subscribed',
      'subscriptions',
      'subscriptions',
    ]);
    const empty = await channel(member, [], { invite_only: true });
    expect((await member.ok('GET', `/streams/${empty}/members`)).subscribers).toEqual([]);
  });

  test('rejects the name of an existing channel, in any case, with CHANNEL_ALREADY_EXISTS', async () => {
    const name = await nameOf(realm.member, await channel(realm.member));
    const { status, body } = await realm.member2.post('/channels/create', {
      name: name.toUpperCase(),
      subscribers: [],
    });
    expect([status, body.code, body.channel_name]).toEqual([409, 'CHANNEL_ALREADY_EXISTS', name.toUpperCase()]);
  });

  test.each([
    ['no subscribers given', { name: 'without subscribers' }],
    ['no name', { subscribers: [] }],
    ['an unknown subscriber', { name: 'x1', subscribers: [99_999_999] }],
    ['emails for ids', { name: 'x2', subscribers: ['a@b.example'] }],
    ['an empty name', { name: ' ', subscribers: [] }],
  ])('refuses %s', async (_, form) => {
    expect((await realm.owner.post('/channels/create', form)).status).toBe(400);
  });

  test('rejects guests', async () => {
    const answer = await realm.guest.post('/channels/create', { name: freshName(), subscribers: [] });
    expect(refused(answer)).toEqual(badRequest);
  });

  test('announces a public channel to all but guests, and a private one to administrators and users with access', async () => {
    const queues = Object.fromEntries(
      await Promise.all(
        (['owner', 'administrator', 'moderator', 'member2', 'guest'] as const).map(
          async (who) => [who, await realm[who].queue({ event_types: ['stream'] })] as const,
        ),
      ),
    );
    const open = await channel(realm.member);
    const closed = await channel(realm.member, [realm.guest], {
      invite_only: true,
      can_subscribe_group: { direct_members: [realm.member2.user_id], direct_subgroups: [] },
    });
    const seen: Json = {};
    for (const [who, queue] of Object.entries(queues)) {
      await queue.next(
        (event) => event.op === 'create' && event.streams[0].stream_id === (who === 'moderator' ? open : closed),
      );
      seen[who] = queue.seen.flatMap(({ op, streams }) =>
        op === 'create' ? streams.map((one: Json) => one.stream_id) : [],
      );
    }
    expect(seen).toEqual({
      owner: [open, closed],
      administrator: [open, closed],
      moderator: [open],
      member2: [open, closed],
      guest: [closed],
    });
  });

  test('hides the history of a private channel from later subscribers by default', async () => {
    const history = async (form: Json): Promise<boolean> =>
      (await streamOf(realm.member, await channel(realm.member, [realm.member], form))).history_public_to_subscribers;
    expect(await history({ invite_only: true })).toBe(false);
    expect(await history({ invite_only: true, history_public_to_subscribers: true })).toBe(true);
    expect(await history({ history_public_to_subscribers: false })).toBe(true);
  });
});

describe('DELETE /users/me/subscriptions', () => {
  test('returns the channels that the user left and those that the user was not subscribed to', async () => {
    const { member } = realm;
    const [left, other] = [await channel(member, [member]), await channel(member)];
    const names = [await nameOf(member, left), await nameOf(member, other)];
    const answer = await member.ok('DELETE', '/users/me/subscriptions', { subscriptions: names });
    expect([answer.removed, answer.not_removed]).toEqual([[names[0]], [names[1]]]);
    expect(await standing(member, left)).toBe('unsubscribed');
  });

  test('lists a channel in removed or not_removed once for each user', async () => {
    const { owner, member, member2, moderator } = realm;
    const name = await nameOf(owner, await channel(owner, [member, member2]));
    const leave = async (people: Client[]) => {
      const principals = people.map(({ user_id }) => user_id);
      const answer = await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name], principals });
      return [answer.removed, answer.not_removed];
    };
    expect(await leave([member, member2, moderator])).toEqual([[name, name], [name]]);
    expect(await leave([member, member2])).toEqual([[], [name, name]]);
  });

  test('also unsubscribes from an archived channel (level 362), but prefers an active one of the same name', async () => {
    const { owner, member } = realm;
    const id = await channel(owner, [member]);
    const name = await nameOf(owner, id);
    await owner.ok('DELETE', `/streams/${id}`);
    const leave = () => member.delete('/users/me/subscriptions', { subscriptions: [name] });
    const { id: active } = await owner.ok('POST', '/channels/create', { name, subscribers: [member.user_id] });
    expect((await leave()).body.removed).toEqual([name]);
    expect([await standing(member, active), await standing(member, id)]).toEqual(['unsubscribed', 'subscriptions']);
    await owner.ok('DELETE', `/streams/${active}`);
    const queue = await member.queue({
      event_types: ['subscription'],
      client_capabilities: { archived_channels: true },
    });
    expect((await leave()).body).toMatchObject({ removed: [name], not_removed: [] });
    expect(await queue.next(({ op }) => op === 'remove')).toMatchObject({ subscriptions: [{ stream_id: id, name }] });
    expect(await standing(member, id)).toBe('unsubscribed');
    expect((await leave()).body).toMatchObject({ removed: [], not_removed: [name] });
  });

  test('returns the same error for a missing channel and for a private channel of others', async () => {
    const hidden = await nameOf(realm.owner, await channel(realm.owner, [realm.owner], { invite_only: true }));
    for (const name of [hidden, 'no such channel']) {
      const { status, body } = await realm.member.delete('/users/me/subscriptions', { subscriptions: [name] });
      expect([status, body]).toEqual([
        400,
        { result: 'error', code: 'STREAM_DOES_NOT_EXIST', msg: `Channel '${name}' does not exist`, stream: name },
      ]);
    }
  });

  test('lets administrators, channel administrators and can_remove_subscribers_group remove other users', async () => {
    const { administrator, owner, member, member2, guest, moderator } = realm;
    const id = await channel(member, [member, member2, guest, moderator, owner]);
    const name = await nameOf(member, id);
    const remove = (who: typeof member, user: typeof member) =>
      who.delete('/users/me/subscriptions', { subscriptions: [name], principals: [user.user_id] });
    expect(refused(await remove(member2, guest))).toEqual(badRequest);
    expect(refused(await remove(moderator, guest))).toEqual(badRequest);
    expect((await remove(member, guest)).body.removed).toEqual([name]);
    expect((await remove(administrator, owner)).body.removed).toEqual([name]);
    await member.ok('PATCH', `/streams/${id}`, {
      can_remove_subscribers_group: { new: { direct_members: [member2.user_id], direct_subgroups: [] } },
    });
    expect((await remove(member2, moderator)).body.removed).toEqual([name]);
    expect((await remove(member2, member2)).body.removed).toEqual([name]);
  });

  test('lets a guest remove others where can_remove_subscribers_group permits it', async () => {
    const { member, member2, moderator, guest } = realm;
    const id = await channel(member, [member2, moderator, guest]);
    const name = await nameOf(member, id);
    const remove = (principals: (number | string)[]) =>
      guest.delete('/users/me/subscriptions', { subscriptions: [name], principals });
    expect(refused(await remove([member2.user_id]))).toEqual(badRequest);
    await member.ok('PATCH', `/streams/${id}`, {
      can_remove_subscribers_group: { new: { direct_members: [guest.user_id], direct_subgroups: [] } },
    });
    expect((await remove([member2.user_id])).body.removed).toEqual([name]);
    expect((await remove([moderator.email])).body.removed).toEqual([name]);
    expect((await remove([999_999_999])).body.msg).toBe('Invalid user ID 999999999');
    const other = await nameOf(member, await channel(member, [member2, guest]));
    const both = { subscriptions: [name, other], principals: [member2.user_id] };
    expect(refused(await guest.delete('/users/me/subscriptions', both))).toEqual(badRequest);
  });

  test('sends subscription/remove and, for a private channel, stream/delete to the leaver, and peer_remove to others', async () => {
    const { member, member2 } = realm;
    const id = await channel(member, [member, member2], { invite_only: true });
    const name = await nameOf(member, id);
    const types = { event_types: ['subscription', 'stream'] };
    const [own, peer] = [await member2.queue(types), await member.queue(types)];
    await member2.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name] });
    await own.next((event) => event.type === 'stream');
    expect(own.seen).toMatchObject([
      { type: 'subscription', op: 'remove', subscriptions: [{ stream_id: id, name }] },
      { type: 'stream', op: 'delete', stream_ids: [id] },
    ]);
    expect(await peer.next((event) => event.op === 'peer_remove')).toMatchObject({
      stream_ids: [id],
      user_ids: [member2.user_id],
    });
    expect(await standing(member2, id)).toBe('unknown');
  });

  test('sends users who are removed together peer_remove about each other, but not about themselves', async () => {
    const { owner, member, member2, moderator } = realm;
    const id = await channel(owner, [member, member2, moderator]);
    const peers = [member, member2, moderator];
    const queues = await Promise.all(peers.map((person) => person.queue({ event_types: ['subscription'] })));
    const principals = [member.user_id, member2.user_id];
    await owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: [await nameOf(owner, id)], principals });
    for (const [index, person] of peers.entries()) {
      const { user_ids } = (await queues[index]?.next((event) => event.op === 'peer_remove')) ?? {};
      expect(user_ids).toEqual(principals.filter((other) => other !== person.user_id));
    }
  });

  test('keeps a private channel when its last subscriber leaves', async () => {
    const id = await channel(realm.member, [realm.member], { invite_only: true });
    const name = await nameOf(realm.member, id);
    await realm.member.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name] });
    expect(await streamOf(realm.owner, id)).toMatchObject({ is_archived: false, subscriber_count: 0 });
  });

  test('keeps the user’s settings of the channel for a later subscription', async () => {
    const id = await channel(realm.member, [realm.member]);
    const name = await nameOf(realm.member, id);
    await realm.member.ok('POST', '/users/me/subscriptions/properties', {
      subscription_data: [
        { stream_id: id, property: 'color', value: '#abcdef' },
        { stream_id: id, property: 'is_muted', value: true },
      ],
    });
    await realm.member.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name] });
    const queue = await realm.member.queue({ event_types: ['subscription'] });
    await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }] });
    const { subscriptions } = await queue.next((event) => event.op === 'add');
    expect(subscriptions[0]).toMatchObject({ color: '#abcdef', is_muted: true, in_home_view: false });
  });
});

test('PATCH /users/me/subscriptions adds and deletes in one request, and rejects an empty request', async () => {
  const { member } = realm;
  const left = await nameOf(member, await channel(member, [member]));
  const added = freshName();
  const answer = await member.ok('PATCH', '/users/me/subscriptions', {
    add: [{ name: added, color: '#112233' }],
    delete: [left],
  });
  expect(answer).toMatchObject({
    subscribed: { [member.user_id]: [added] },
    already_subscribed: {},
    removed: [left],
    not_removed: [],
    new_subscription_messages_sent: true,
  });
  expect(await member.ok('PATCH', '/users/me/subscriptions', { delete: [added] })).toMatchObject({
    subscribed: {},
    new_subscription_messages_sent: true,
  });
  expect(refused(await member.patch('/users/me/subscriptions', {}))).toEqual(badRequest);
});

describe('subscriptions', () => {
  test('to the default channels are created for a new member, but not for a new guest', async () => {
    const id = await channel(realm.owner, [], { is_default_stream: true });
    const queue = await realm.member.queue({ event_types: ['subscription'] });
    const [person, guest] = [await realm.person(), await realm.person({ role: 'guest' })];
    expect(await standing(person, id)).toBe('subscriptions');
    expect(await standing(guest, id)).toBe('unknown');
    expect(await queue.next((event) => event.op === 'peer_add')).toMatchObject({
      stream_ids: [id],
      user_ids: [person.user_id],
    });
    await realm.owner.ok('DELETE', '/default_streams', { stream_id: id });
    expect(await standing(await realm.person(), id)).toBe('never_subscribed');
  });

  test('of a deactivated user are removed from the lists of subscribers', async () => {
    const person = await realm.person();
    const id = await channel(realm.member, [realm.member, person]);
    const members = async () => (await realm.member.ok('GET', `/streams/${id}/members`)).subscribers;
    const queue = await realm.member.queue({ event_types: ['subscription'] });
    await realm.owner.ok('DELETE', `/users/${person.user_id}`);
    expect(await queue.next((event) => event.op === 'peer_remove')).toMatchObject({
      stream_ids: [id],
      user_ids: [person.user_id],
    });
    expect(await members()).toEqual([realm.member.user_id]);
    expect((await streamOf(realm.member, id)).subscriber_count).toBe(1);
  });
});

test('of two spellings of a new name in one request, the first creates the channel', async () => {
  const name = freshName();
  const subscriptions = [
    { name: `A ${name}`, description: 'first' },
    { name: `a ${name}`, description: 'second' },
  ];
  const { subscribed } = await realm.member.ok('POST', '/users/me/subscriptions', { subscriptions });
  expect(subscribed).toEqual({ [realm.member.user_id]: [`A ${name}`] });
  const { stream_id } = await realm.member.ok('GET', '/get_stream_id', { stream: `A ${name}` });
  expect(await streamOf(realm.member, stream_id)).toMatchObject({ name: `A ${name}`, description: 'first' });
});

test('names that the database takes for the same create one channel, and each finds it', async () => {
  const { owner, member } = realm;
  const names = ['İzmit', 'izmit'];
  const subscriptions = names.map((name) => ({ name }));
  const { subscribed } = await member.ok('POST', '/users/me/subscriptions', { subscriptions });
  const { removed } = await member.ok('DELETE', '/users/me/subscriptions', { subscriptions: names });
  expect(subscribed[member.user_id]).toEqual(removed);
  const group = { group_name: 'of one channel', description: '', stream_names: names };
  await owner.ok('POST', '/default_stream_groups/create', group);
});
