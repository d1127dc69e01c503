import type { Json, Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { badRequest, channel, freshName, nameOf, openQuietRealm, refused } from './setting.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openQuietRealm();
});

const nullable = { client_capabilities: { notification_settings_null: true } };

describe('POST /users/me/subscriptions/properties', () => {
  test.each([
    ['color', '#a1b2c3', [['color', '#a1b2c3']]],
    ['color', '#AbCdEf', [['color', '#abcdef']]],
    ['color', '#F0a', [['color', '#ff00aa']]],
    [
      'is_muted',
      true,
      [
        ['is_muted', true],
        ['in_home_view', false],
      ],
    ],
    [
      'in_home_view',
      false,
      [
        ['is_muted', true],
        ['in_home_view', false],
      ],
    ],
    ['pin_to_top', true, [['pin_to_top', true]]],
    ['desktop_notifications', true, [['desktop_notifications', true]]],
    ['audible_notifications', false, [['audible_notifications', false]]],
    ['push_notifications', true, [['push_notifications', true]]],
    ['email_notifications', true, [['email_notifications', true]]],
    ['wildcard_mentions_notify', false, [['wildcard_mentions_notify', false]]],
  ])('stores %s = %s and sends the event to the user only', async (property, value, told) => {
    const { member, member2 } = realm;
    const id = await channel(member, [member, member2]);
    const types = { event_types: ['subscription'] };
    const [own, other] = [await member.queue(types), await member2.queue(types)];
    await member.ok('POST', '/users/me/subscriptions/properties', {
      subscription_data: [{ stream_id: id, property, value }],
    });
    await own.next((event) => event.property === told.at(-1)?.[0]);
    expect(own.seen).toMatchObject(
      told.map(([name, what]) => ({ op: 'update', stream_id: id, property: name, value: what })),
    );
    const { subscriptions } = await member.ok('POST', '/register', {
      fetch_event_types: ['subscription'],
      ...nullable,
    });
    expect(subscriptions.find((one: Json) => one.stream_id === id)).toMatchObject(Object.fromEntries(told));
    expect(await other.poll(true)).toEqual([]);
  });

  test('announces only the last of several values of one setting', async () => {
    const { member } = realm;
    const stream_id = await channel(member, [member]);
    const queue = await member.queue({ event_types: ['subscription'] });
    const set = (property: string, values: boolean[]) =>
      member.ok('POST', '/users/me/subscriptions/properties', {
        subscription_data: values.map((value) => ({ stream_id, property, value })),
      });
    await set('pin_to_top', [true, false, true, false, true]);
    await set('email_notifications', [true]);
    await queue.next(({ property }) => property === 'email_notifications');
    expect(queue.seen.map(({ property, value }) => [property, value])).toEqual([
      ['pin_to_top', true],
      ['email_notifications', true],
    ]);
  });

  test('changes all channels of a request or none of them', async () => {
    const { member } = realm;
    const [one, two, foreign] = [
      await channel(member, [member]),
      await channel(member, [member]),
      await channel(member),
    ];
    const set = (ids: number[]) =>
      member.post('/users/me/subscriptions/properties', {
        subscription_data: ids.map((stream_id) => ({ stream_id, property: 'pin_to_top', value: true })),
      });
    const pinned = async () =>
      (await member.ok('GET', '/users/me/subscriptions')).subscriptions.filter((each: Json) => each.pin_to_top).length;
    const before = await pinned();
    expect(refused(await set([one, foreign]))).toEqual(badRequest);
    expect(await pinned()).toBe(before);
    expect((await set([one, two])).body).toEqual({ result: 'success', msg: '' });
    expect(await pinned()).toBe(before + 2);
  });

  test.each([
    [{ property: 'color', value: 'blue' }],
    [{ property: 'color', value: true }],
    [{ property: 'is_muted', value: 'yes' }],
    [{ property: 'role', value: true }],
    [{ property: 'is_muted' }],
  ])('refuses %j', async (data) => {
    const id = await channel(realm.member, [realm.member]);
    const form = { subscription_data: [{ stream_id: id, ...data }] };
    expect((await realm.member.post('/users/me/subscriptions/properties', form)).status).toBe(400);
  });
});

test('PATCH /users/me/subscriptions/{stream_id} changes one property', async () => {
  const id = await channel(realm.member, [realm.member]);
  await realm.member.ok('PATCH', `/users/me/subscriptions/${id}`, { property: 'is_muted', value: true });
  await realm.member.ok('PATCH', `/users/me/subscriptions/${id}`, { property: 'color', value: '#fff' });
  const { subscriptions } = await realm.member.ok('GET', '/users/me/subscriptions');
  expect(subscriptions.find((one: Json) => one.stream_id === id)).toMatchObject({ is_muted: true, color: '#ffffff' });
});

test('a channel without its own setting shows the user’s default to clients without notification_settings_null', async () => {
  const person = await realm.person();
  const id = await channel(person, [person]);
  const shown = async () => {
    const { subscriptions } = await person.ok('POST', '/register', { fetch_event_types: ['subscription'] });
    const one = subscriptions.find(({ stream_id }: Json) => stream_id === id);
    return [one.desktop_notifications, one.wildcard_mentions_notify];
  };
  expect(await shown()).toEqual([false, true]);
  await person.ok('PATCH', `/users/me/subscriptions/${id}`, { property: 'desktop_notifications', value: true });
  expect(await shown()).toEqual([true, true]);
});

describe('default channels', () => {
  const defaults = async (who: 'member' | 'guest') =>
    (await realm[who].ok('POST', '/register', { fetch_event_types: ['default_streams'] })).realm_default_streams;

  test('are added and removed by administrators, and all users but guests receive the event', async () => {
    const { administrator, member, guest } = realm;
    const id = await channel(member);
    const types = { event_types: ['default_streams', 'stream'] };
    const [queue, hidden] = [await member.queue(types), await guest.queue(types)];
    for (const who of ['moderator', 'member', 'guest'] as const)
      expect(refused(await realm[who].post('/default_streams', { stream_id: id })), who).toEqual(badRequest);
    await administrator.ok('POST', '/default_streams', { stream_id: id });
    expect((await queue.next((event) => event.type === 'default_streams')).default_streams).toEqual([id]);
    expect([await defaults('member'), await defaults('guest')]).toEqual([[id], []]);
    // Nothing changes, so there is no second event.
    expect(refused(await administrator.post('/default_streams', { stream_id: id }))).toEqual(badRequest);
    await administrator.ok('DELETE', '/default_streams', { stream_id: id });
    expect((await queue.next((event) => event.type === 'default_streams')).default_streams).toEqual([]);
    expect(await hidden.poll(true)).toEqual([]);
  });

  test('cannot be private', async () => {
    const { owner } = realm;
    const id = await channel(owner, [owner], { invite_only: true });
    expect(refused(await owner.post('/default_streams', { stream_id: id }))).toEqual(badRequest);
    const open = await channel(owner, [owner], { is_default_stream: true });
    expect(refused(await owner.patch(`/streams/${open}`, { is_private: true }))).toEqual(badRequest);
    await owner.ok('PATCH', `/streams/${open}`, { is_private: true, is_default_stream: false });
    expect(await defaults('member')).toEqual([]);
  });

  test('can be grouped, and only administrators manage the groups', async () => {
    const { owner, member } = realm;
    const [one, two] = [await channel(owner), await channel(owner)];
    const names = [await nameOf(owner, one), await nameOf(owner, two)];
    const queue = await member.queue({ event_types: ['default_stream_groups'] });
    const last = async () =>
      (await queue.next((event) => event.type === 'default_stream_groups')).default_stream_groups;
    const group_name = freshName();
    const form = { group_name, description: 'first', stream_names: [names[0]] };
    expect(refused(await member.post('/default_stream_groups/create', form))).toEqual(badRequest);
    await owner.ok('POST', '/default_stream_groups/create', form);
    const [made] = await last();
    expect(made).toEqual({ id: made.id, name: group_name, description: 'first', streams: [one] });
    expect(refused(await owner.post('/default_stream_groups/create', form))).toEqual(badRequest);
    await owner.ok('PATCH', `/default_stream_groups/${made.id}/streams`, { op: 'add', stream_names: [names[1]] });
    expect((await last())[0].streams).toEqual([one, two]);
    await owner.ok('PATCH', `/default_stream_groups/${made.id}/streams`, { op: 'remove', stream_names: [names[0]] });
    expect((await last())[0].streams).toEqual([two]);
    expect(
      refused(
        await owner.patch(`/default_stream_groups/${made.id}/streams`, { op: 'remove', stream_names: [names[0]] }),
      ),
    ).toEqual(badRequest);
    expect(
      refused(await owner.patch(`/default_stream_groups/${made.id}/streams`, { op: 'swap', stream_names: [names[0]] })),
    ).toEqual(badRequest);
    expect(refused(await owner.patch(`/default_stream_groups/${made.id}`, {}))).toEqual(badRequest);
    await owner.ok('PATCH', `/default_stream_groups/${made.id}`, {
      new_group_name: 'other',
      new_description: 'second',
    });
    expect((await last())[0]).toMatchObject({ name: 'other', description: 'second' });
    const state = await member.ok('POST', '/register', { fetch_event_types: ['default_stream_groups'] });
    expect(state.realm_default_stream_groups).toEqual([
      { id: made.id, name: 'other', description: 'second', streams: [two] },
    ]);
    await owner.ok('PATCH', `/streams/${two}`, { is_private: true });
    expect((await last())[0].streams).toEqual([]);
    await owner.ok('DELETE', `/default_stream_groups/${made.id}`);
    expect(await last()).toEqual([]);
    expect(refused(await owner.delete(`/default_stream_groups/${made.id}`))).toEqual(badRequest);
  });
});

describe('channel folders', () => {
  test('are created, changed, ordered and archived by administrators, and all users receive the events', async () => {
    const { owner, member, guest } = realm;
    const queue = await guest.queue({ event_types: ['channel_folder'] });
    for (const who of ['moderator', 'member', 'guest'] as const)
      expect(refused(await realm[who].post('/channel_folders/create', { name: 'mine' })), who).toEqual(badRequest);
    const create = async (name: string) =>
      (await owner.ok('POST', '/channel_folders/create', { name, description: 'a *folder*' })).channel_folder_id;
    const [one, two] = [await create('one'), await create('two')];
    const added = await queue.next((event) => event.op === 'add');
    expect(added.channel_folder).toEqual({
      id: one,
      name: 'one',
      description: 'a *folder*',
      rendered_description: '<p>a <em>folder</em></p>',
      date_created: added.channel_folder.date_created,
      creator_id: owner.user_id,
      order: 0,
      is_archived: false,
    });
    await owner.ok('PATCH', `/channel_folders/${one}`, { name: 'uno', description: '' });
    expect(await queue.next((event) => event.op === 'update')).toMatchObject({
      channel_folder_id: one,
      data: { name: 'uno', description: '', rendered_description: '' },
    });
    await owner.ok('PATCH', '/channel_folders', { order: [two, one] });
    expect(await queue.next((event) => event.op === 'reorder')).toMatchObject({ order: [two, one] });
    const folders = async (form: Json = {}) =>
      (await member.ok('GET', '/channel_folders', form)).channel_folders.map((each: Json) => each.id);
    expect(await folders()).toEqual([two, one]);
    for (const order of [[one], [one, two, two], [one, 999_999]])
      expect(refused(await owner.patch('/channel_folders', { order })), JSON.stringify(order)).toEqual(badRequest);
    const id = await channel(owner, [], { folder_id: two });
    expect(refused(await owner.patch(`/channel_folders/${two}`, { is_archived: true }))).toEqual(badRequest);
    await owner.ok('PATCH', `/streams/${id}`, { folder_id: null });
    await owner.ok('PATCH', `/channel_folders/${two}`, { is_archived: true });
    expect([await folders(), await folders({ include_archived: true })]).toEqual([[one], [two, one]]);
    expect(refused(await owner.patch(`/streams/${id}`, { folder_id: two }))).toEqual(badRequest);
    const state = await guest.ok('POST', '/register', { fetch_event_types: ['channel_folders'] });
    expect(state.channel_folders.map(({ id: folder, is_archived }: Json) => [folder, is_archived])).toEqual([
      [two, true],
      [one, false],
    ]);
    // The name of an archived folder is available again.
    await create('two');
  });

  test.each([[''], ['  '], ['x'.repeat(61)], ['a\u0001']])('cannot be named %j', async (name) => {
    expect(refused(await realm.owner.post('/channel_folders/create', { name }))).toEqual(badRequest);
  });

  test('cannot share a name or have a description over 1024 characters', async () => {
    const name = freshName();
    await realm.owner.ok('POST', '/channel_folders/create', { name });
    expect(refused(await realm.owner.post('/channel_folders/create', { name: name.toUpperCase() }))).toEqual(
      badRequest,
    );
    const long = { name: freshName(), description: 'x'.repeat(1025) };
    expect(refused(await realm.owner.post('/channel_folders/create', long))).toEqual(badRequest);
  });
});

test('clients without notification_settings_null see a change of the user’s setting for all channels', async () => {
  const person = await realm.person();
  const id = await channel(person, [person]);
  const told = async (): Promise<boolean> => {
    const { subscriptions } = await person.ok('POST', '/register', { fetch_event_types: ['subscription'] });
    return subscriptions.find((one: Json) => one.stream_id === id).desktop_notifications;
  };
  for (const value of [true, false, true]) {
    await person.ok('PATCH', '/settings', { enable_stream_desktop_notifications: value });
    expect(await told()).toBe(value);
  }
});
