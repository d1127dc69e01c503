import type { Client, Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  badRequest,
  channel,
  freshName,
  group,
  nameOf,
  openQuietRealm,
  refused,
  standing,
  streamOf,
  systemGroups,
} from './setting.ts';

let realm: Realm;
let groups: Record<string, number>;
beforeAll(async () => {
  realm = await openQuietRealm();
  groups = await systemGroups(realm);
});

const idOf = async (name: string): Promise<number> =>
  (await realm.owner.ok('GET', '/get_stream_id', { stream: name })).stream_id;

describe('POST /users/me/subscriptions (4.3)', () => {
  test('creates a missing channel and subscribes the caller, and lists it as already_subscribed the second time', async () => {
    const name = freshName();
    const { member } = realm;
    const first = await member.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name, description: 'One *thing*' }],
    });
    expect(first).toEqual({
      result: 'success',
      msg: '',
      subscribed: { [member.user_id]: [name] },
      already_subscribed: {},
      new_subscription_messages_sent: true,
    });
    const second = await member.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: name.toUpperCase() }],
    });
    expect(second.subscribed).toEqual({});
    expect(second.already_subscribed).toEqual({ [member.user_id]: [name] });
    expect(await streamOf(realm.member2, await idOf(name))).toMatchObject({
      name,
      description: 'One *thing*',
      rendered_description: '<p>One <em>thing</em></p>',
      invite_only: false,
      is_web_public: false,
      history_public_to_subscribers: true,
      message_retention_days: null,
      topics_policy: 'inherit',
      creator_id: member.user_id,
      folder_id: null,
      is_archived: false,
      is_recently_active: true,
      is_announcement_only: false,
      stream_post_policy: 1,
      stream_weekly_traffic: null,
      subscriber_count: 1,
      can_administer_channel_group: { direct_members: [member.user_id], direct_subgroups: [] },
      can_add_subscribers_group: groups['role:nobody'],
      can_remove_subscribers_group: groups['role:administrators'],
      can_send_message_group: groups['role:everyone'],
      can_subscribe_group: groups['role:nobody'],
      can_delete_any_message_group: groups['role:nobody'],
      can_delete_own_message_group: groups['role:nobody'],
      can_move_messages_out_of_channel_group: groups['role:nobody'],
      can_move_messages_within_channel_group: groups['role:nobody'],
      can_resolve_topics_group: groups['role:nobody'],
    });
  });

  test('applies every parameter to a new channel', async () => {
    const name = freshName();
    const { owner, member, member2 } = realm;
    const { channel_folder_id } = await owner.ok('POST', '/channel_folders/create', { name: `folder of ${name}` });
    const two = { direct_members: [member.user_id], direct_subgroups: [groups['role:moderators']] };
    await owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: [member.user_id, member2.user_id],
      invite_only: true,
      history_public_to_subscribers: true,
      message_retention_days: 30,
      topics_policy: 'disable_empty_topic',
      folder_id: channel_folder_id,
      can_add_subscribers_group: two,
      can_remove_subscribers_group: groups['role:moderators'],
      can_administer_channel_group: { direct_members: [], direct_subgroups: [groups['role:moderators']] },
      can_delete_any_message_group: groups['role:administrators'],
      can_delete_own_message_group: groups['role:everyone'],
      can_move_messages_out_of_channel_group: two,
      can_move_messages_within_channel_group: groups['role:everyone'],
      can_send_message_group: groups['role:administrators'],
      can_subscribe_group: groups['role:fullmembers'],
      can_resolve_topics_group: groups['role:members'],
    });
    expect(await streamOf(member, await idOf(name))).toMatchObject({
      invite_only: true,
      history_public_to_subscribers: true,
      message_retention_days: 30,
      topics_policy: 'disable_empty_topic',
      folder_id: channel_folder_id,
      can_add_subscribers_group: two,
      can_remove_subscribers_group: groups['role:moderators'],
      // A value of a single group is stored as that group.
      can_administer_channel_group: groups['role:moderators'],
      can_delete_any_message_group: groups['role:administrators'],
      can_delete_own_message_group: groups['role:everyone'],
      can_move_messages_out_of_channel_group: two,
      can_move_messages_within_channel_group: groups['role:everyone'],
      can_send_message_group: groups['role:administrators'],
      can_subscribe_group: groups['role:fullmembers'],
      can_resolve_topics_group: groups['role:members'],
      stream_post_policy: 2,
      is_announcement_only: true,
      subscriber_count: 2,
    });
    expect(await standing(owner, await idOf(name))).toBe('never_subscribed');
  });

  test('ignores the configuration for an existing channel', async () => {
    const id = await channel(realm.member);
    const name = await nameOf(realm.member, id);
    await realm.owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name, description: 'other' }],
      invite_only: true,
      message_retention_days: 3,
    });
    expect(await streamOf(realm.member, id)).toMatchObject({
      invite_only: false,
      description: '',
      message_retention_days: null,
    });
  });

  test.each(['ΟΔΟΣ', 'İstanbul', 'STRASSE', 'ÉTÉ', 'ǅ'])('finds the channel %s by its name', async (name) => {
    const { member, member2 } = realm;
    const subscribe = (who: Client, given: string) =>
      who.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: given, color: '#123456' }] });
    expect((await subscribe(member, name)).subscribed).toEqual({ [member.user_id]: [name] });
    expect((await subscribe(member, name)).already_subscribed).toEqual({ [member.user_id]: [name] });
    expect((await subscribe(member2, name)).subscribed).toEqual({ [member2.user_id]: [name] });
    const leave = () => member.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name] });
    expect([(await leave()).removed, (await leave()).not_removed]).toEqual([[name], [name]]);
    const id = await idOf(name);
    expect(refused(await member.post('/channels/create', { name, subscribers: [] }))[1]).toBe('CHANNEL_ALREADY_EXISTS');
    const group = { group_name: name, description: '', stream_names: [name] };
    await realm.owner.ok('POST', '/default_stream_groups/create', group);
    await member2.ok('PATCH', '/users/me/subscriptions/muted_topics', { stream: name, topic: 't', op: 'add' });
    await realm.owner.ok('DELETE', `/streams/${id}`);
    expect((await member2.ok('DELETE', '/users/me/subscriptions', { subscriptions: [name] })).removed).toEqual([name]);
  });

  test('accepts principals as IDs or as emails, but not mixed', async () => {
    const name = freshName();
    const { owner, member, guest } = realm;
    const byEmail = await owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: [member.email.toUpperCase(), guest.email],
    });
    expect(byEmail.subscribed).toEqual({ [member.user_id]: [name], [guest.user_id]: [name] });
    const mixed = await owner.post('/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: [member.email, 1],
    });
    expect(refused(mixed)).toEqual(badRequest);
  });

  test('finds users by their visible email, and not by a hidden one', async () => {
    const { owner, host } = realm;
    const shy = await realm.person();
    await shy.ok('PATCH', '/settings', { email_address_visibility: 4 });
    const add = (principal: string) =>
      owner.post('/users/me/subscriptions', { subscriptions: [{ name: 'by email' }], principals: [principal] });
    const [hidden, missing] = [await add(shy.email), await add('nobody@example.com')];
    expect(refused(hidden)).toEqual(badRequest);
    expect(hidden.body.msg).toBe(missing.body.msg.replace('nobody@example.com', shy.email));
    expect((await add(`user${shy.user_id}@${host}`)).body.subscribed).toEqual({ [shy.user_id]: ['by email'] });
  });

  test('subscribes the caller if the list of principals is empty', async () => {
    const name = freshName();
    const answer = await realm.member.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: [],
    });
    expect(answer.subscribed).toEqual({ [realm.member.user_id]: [name] });
  });

  test('rejects the whole request if a principal does not exist or is deactivated', async () => {
    const name = freshName();
    const gone = await realm.person();
    await realm.owner.ok('DELETE', `/users/${gone.user_id}`);
    for (const principals of [
      [999_999_999],
      ['nobody@nowhere.example'],
      [gone.user_id],
      [realm.member.user_id, gone.user_id],
    ])
      expect(
        refused(await realm.owner.post('/users/me/subscriptions', { subscriptions: [{ name }], principals })),
      ).toEqual(badRequest);
    expect((await realm.owner.get('/get_stream_id', { stream: name })).status).toBe(400);
  });

  test('rejects guests, even for public channels', async () => {
    const name = await nameOf(realm.member, await channel(realm.member));
    for (const wanted of [name, freshName()]) {
      const answer = await realm.guest.post('/users/me/subscriptions', { subscriptions: [{ name: wanted }] });
      expect([answer.status, answer.body.code, answer.body.msg]).toEqual([
        400,
        'BAD_REQUEST',
        'Not allowed for guest users',
      ]);
    }
  });

  test.each([
    ['an empty name', { subscriptions: [{ name: '  ' }] }],
    ['a name over 60 characters', { subscriptions: [{ name: 'x'.repeat(61) }] }],
    ['a control character', { subscriptions: [{ name: 'a\u0007b' }] }],
    ['a description over 1024 characters', { subscriptions: [{ name: 'long text', description: 'x'.repeat(1025) }] }],
    ['an unknown topics policy', { subscriptions: [{ name: 'policy' }], topics_policy: 'nothing' }],
    ['retention of no days', { subscriptions: [{ name: 'retention' }], message_retention_days: 0 }],
    ['an unknown word for retention', { subscriptions: [{ name: 'retention' }], message_retention_days: 'soon' }],
    ['an unknown folder', { subscriptions: [{ name: 'folder' }], folder_id: 999_999 }],
    ['an unknown group', { subscriptions: [{ name: 'group' }], can_send_message_group: 999_999 }],
    [
      'an unknown person in a value',
      { subscriptions: [{ name: 'p' }], can_send_message_group: { direct_members: [9_999_999], direct_subgroups: [] } },
    ],
    ['a private default channel', { subscriptions: [{ name: 'default' }], invite_only: true, is_default_stream: true }],
    ['a private web-public channel', { subscriptions: [{ name: 'both' }], invite_only: true, is_web_public: true }],
    ['a missing list of channels', {}],
    ['a string instead of a list', { subscriptions: 'general' }],
    ['a channel without a name', { subscriptions: [{ description: 'x' }] }],
    ['an invalid colour', { subscriptions: [{ name: 'colour', color: 'red' }] }],
  ])('refuses %s', async (_, form) => {
    expect((await realm.owner.post('/users/me/subscriptions', form)).status).toBe(400);
  });

  test('accepts a name of 60 characters and a description of 1024, and replaces line ends with spaces', async () => {
    const name = `${freshName()} ${'ä'.repeat(60)}`.slice(0, 60);
    await realm.owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name: ` ${name} `, description: `a\nb${'x'.repeat(1021)}` }],
    });
    expect((await streamOf(realm.member, await idOf(name))).description).toBe(`a b${'x'.repeat(1021)}`);
  });

  test.each([
    ['internet', 'can_subscribe_group'],
    ['everyone', 'can_administer_channel_group'],
  ])('rejects role:%s as the value of %s', async (role, setting) => {
    const { status, body } = await realm.owner.post('/users/me/subscriptions', {
      subscriptions: [{ name: freshName() }],
      [setting]: groups[`role:${role}`],
    });
    expect([status, body.msg]).toEqual([400, `'${setting}' setting cannot be set to 'role:${role}' group.`]);
  });

  test('rejects a private channel of others, or lists it as unauthorized if errors are not fatal', async () => {
    const id = await channel(realm.member, [realm.member], { invite_only: true });
    const name = await nameOf(realm.member, id);
    const open = await nameOf(realm.member, await channel(realm.member));
    const subscriptions = [{ name }, { name: open }];
    for (const who of ['member2', 'moderator', 'administrator', 'owner'] as const) {
      const answer = await realm[who].post('/users/me/subscriptions', { subscriptions });
      expect([answer.status, answer.body.code, answer.body.msg], who).toEqual([
        400,
        'BAD_REQUEST',
        `Unable to access channel (${name}).`,
      ]);
    }
    const mild = await realm.member2.ok('POST', '/users/me/subscriptions', {
      subscriptions,
      authorization_errors_fatal: false,
    });
    expect([mild.unauthorized, mild.subscribed]).toEqual([[name], { [realm.member2.user_id]: [open] }]);
    expect(await standing(realm.member2, id)).toBe('unknown');
  });

  test('lets members of can_subscribe_group or can_add_subscribers_group join a private channel', async () => {
    for (const setting of ['can_subscribe_group', 'can_add_subscribers_group']) {
      const friends = await group(realm, [realm.member2]);
      const id = await channel(realm.member, [realm.member], { invite_only: true, [setting]: friends });
      expect(await standing(realm.member2, id)).toBe('never_subscribed');
      const name = await nameOf(realm.member2, id);
      await realm.member2.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }] });
      expect(await standing(realm.member2, id)).toBe('subscriptions');
    }
  });

  test('requires the realm setting, channel administration or the channel’s own group to add others', async () => {
    const { owner, member, member2, moderator } = realm;
    const id = await channel(member, [member2]);
    const name = await nameOf(member, id);
    await owner.ok('PATCH', '/realm', { can_add_subscribers_group: { new: groups['role:nobody'] } });
    try {
      const add = (who: typeof member, user: typeof member, form: object = {}) =>
        who.post('/users/me/subscriptions', { subscriptions: [{ name }], principals: [user.user_id], ...form });
      const other = await realm.person();
      expect(refused(await add(member2, other))).toEqual(badRequest);
      expect((await add(member2, other, { authorization_errors_fatal: false })).body.unauthorized).toEqual([name]);
      expect((await add(member, other)).status).toBe(200);
      expect((await add(owner, await realm.person())).status).toBe(200);
      await member.ok('PATCH', `/streams/${id}`, {
        can_add_subscribers_group: { new: { direct_members: [member2.user_id], direct_subgroups: [] } },
      });
      expect((await add(member2, moderator)).status).toBe(200);
      // Subscribing oneself needs no such permission.
      expect((await add(realm.administrator, realm.administrator)).status).toBe(200);
    } finally {
      await owner.ok('PATCH', '/realm', { can_add_subscribers_group: { new: groups['role:members'] } });
    }
  });

  test('requires the permission of the realm to create that kind of channel', async () => {
    const { owner, member } = realm;
    for (const [setting, form] of [
      ['can_create_public_channel_group', {}],
      ['can_create_private_channel_group', { invite_only: true }],
    ] as const) {
      const create = () => member.post('/users/me/subscriptions', { subscriptions: [{ name: freshName() }], ...form });
      await owner.ok('PATCH', '/realm', { [setting]: { new: groups['role:administrators'] } });
      const answer = await create();
      expect([answer.status, answer.body.msg]).toEqual([400, 'Insufficient permission']);
      await owner.ok('PATCH', '/realm', { [setting]: { new: groups['role:members'] } });
      expect((await create()).status).toBe(200);
    }
  });

  test('lets owners set retention, administrators default channels, and a group the topics policy', async () => {
    const { administrator, owner, member } = realm;
    const create = (who: typeof owner, form: object) =>
      who.post('/users/me/subscriptions', { subscriptions: [{ name: freshName() }], ...form });
    expect(refused(await create(administrator, { message_retention_days: 10 }))).toEqual(badRequest);
    expect(refused(await create(administrator, { message_retention_days: 'unlimited' }))).toEqual(badRequest);
    expect((await create(administrator, { message_retention_days: 'realm_default' })).status).toBe(200);
    expect((await create(owner, { message_retention_days: 'unlimited' })).status).toBe(200);
    expect(refused(await create(member, { is_default_stream: true }))).toEqual(badRequest);
    await owner.ok('PATCH', '/realm', { can_set_topics_policy_group: { new: groups['role:administrators'] } });
    expect(refused(await create(member, { topics_policy: 'allow_empty_topic' }))).toEqual(badRequest);
    expect((await create(administrator, { topics_policy: 'empty_topic_only' })).status).toBe(200);
    await owner.ok('PATCH', '/realm', { can_set_topics_policy_group: { new: groups['role:members'] } });
  });

  test('requires a permission to set can_delete_any_message_group to another value than its default', async () => {
    const { moderator, member } = realm;
    const create = (who: typeof member, group: string | undefined) =>
      who.post('/users/me/subscriptions', {
        subscriptions: [{ name: freshName() }],
        can_delete_any_message_group: groups[`role:${group}`],
      });
    expect(refused(await create(member, 'members'))).toEqual(badRequest);
    expect((await create(member, 'nobody')).status).toBe(200);
    expect((await create(moderator, 'members')).status).toBe(200);
  });

  test('requires spectator access and a permission for a web-public channel', async () => {
    const { owner, administrator } = realm;
    const create = (who: typeof owner) =>
      who.post('/users/me/subscriptions', { subscriptions: [{ name: freshName() }], is_web_public: true });
    const answer = await create(owner);
    expect([answer.status, answer.body.msg]).toEqual([400, 'Web-public channels are not enabled.']);
    await owner.ok('PATCH', '/realm', { enable_spectator_access: true });
    expect(refused(await create(administrator))).toEqual(badRequest);
    const created = await create(owner);
    expect(created.status).toBe(200);
    const [name] = Object.values(created.body.subscribed)[0] as string[];
    const id = (await realm.guest.ok('GET', '/get_stream_id', { stream: name })).stream_id;
    expect(await streamOf(realm.guest, id)).toMatchObject({ is_web_public: true, history_public_to_subscribers: true });
  });

  test('returns new_subscription_messages_sent unless send_new_subscription_messages is false', async () => {
    const answer = (form: object) =>
      realm.owner.ok('POST', '/users/me/subscriptions', {
        subscriptions: [{ name: freshName() }],
        principals: [realm.member.user_id],
        ...form,
      });
    expect((await answer({})).new_subscription_messages_sent).toBe(true);
    expect((await answer({ send_new_subscription_messages: true })).new_subscription_messages_sent).toBe(true);
    expect(await answer({ send_new_subscription_messages: false })).not.toHaveProperty(
      'new_subscription_messages_sent',
    );
  });

  test('executes a request that is repeated under one idempotency key once', async () => {
    const form = { name: freshName(), subscribers: [] };
    const headers = { 'idempotency-key': freshName() };
    const first = await realm.member.post('/channels/create', form, headers);
    const second = await realm.member.post('/channels/create', form, headers);
    expect(first.status).toBe(200);
    expect(second.body).toEqual(first.body);
  });
});

test('errors of subscribing do not reveal to a guest whether a user exists', async () => {
  const { guest, member } = realm;
  const id = await channel(realm.owner, [realm.owner, guest]);
  const name = await nameOf(realm.owner, id);
  const answers = [];
  for (const principal of [member.user_id, 99_999_999, member.email, 'nobody@natter.example']) {
    const form = { subscriptions: [{ name }], principals: [principal] };
    answers.push((await guest.post('/users/me/subscriptions', form)).body);
  }
  expect(new Set(answers.map((body) => JSON.stringify(body))).size).toBe(1);
  expect(answers[0].code).toBe('BAD_REQUEST');
});
