import type { Client, Json, Realm } from '@natter/testkit';
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
  await realm.owner.ok('PATCH', '/realm', { enable_spectator_access: true });
});

/**
 * Changes the channel as the owner; returns the events of another subscriber, and the channel as a third user reads it.
 */
async function change(id: number, form: Json, who: Client = realm.owner): Promise<{ told: Json[]; read: Json }> {
  const queue = await realm.member.queue({ event_types: ['stream'] });
  await who.ok('PATCH', `/streams/${id}`, form);
  await queue.next((event) => event.op === 'update');
  await queue.poll(true);
  const told = queue.seen.map(({ id: _, type, ...event }: Json) => event);
  return { told, read: await streamOf(realm.administrator, id) };
}

describe('PATCH /streams/{id}', () => {
  test.each([
    [
      'description',
      { description: 'new\n*text*' },
      { property: 'description', value: 'new *text*' },
      { rendered_description: '<p>new <em>text</em></p>' },
    ],
    ['message_retention_days', { message_retention_days: 7 }, { property: 'message_retention_days', value: 7 }, {}],
    [
      'message_retention_days',
      { message_retention_days: 'unlimited' },
      { property: 'message_retention_days', value: -1 },
      {},
    ],
    [
      'topics_policy',
      { topics_policy: 'disable_empty_topic' },
      { property: 'topics_policy', value: 'disable_empty_topic' },
      {},
    ],
    [
      'is_private',
      { is_private: true },
      { property: 'invite_only', value: true },
      { history_public_to_subscribers: false, is_web_public: false },
    ],
    [
      'is_private with its past shared',
      { is_private: true, history_public_to_subscribers: true },
      { property: 'invite_only', value: true },
      { history_public_to_subscribers: true, is_web_public: false },
    ],
    [
      'is_web_public',
      { is_web_public: true },
      { property: 'invite_only', value: false },
      { history_public_to_subscribers: true, is_web_public: true },
    ],
  ])('sends and returns %s as it is stored: %j', async (_, form, { property, value }, extra) => {
    const id = await channel(realm.owner, [realm.owner, realm.member]);
    const name = await nameOf(realm.owner, id);
    const { told, read } = await change(id, form);
    expect(told).toEqual([{ op: 'update', stream_id: id, name, property, value, ...extra }]);
    expect(read).toMatchObject({ [property]: value, ...extra });
  });

  test('sends new_name under the old name, and makes the old name available', async () => {
    const id = await channel(realm.owner, [realm.member]);
    const [before, after] = [await nameOf(realm.owner, id), freshName()];
    const { told, read } = await change(id, { new_name: ` ${after} ` });
    expect(told).toEqual([{ op: 'update', stream_id: id, name: before, property: 'name', value: after }]);
    expect(read.name).toBe(after);
    const other = await channel(realm.owner, []);
    await realm.owner.ok('PATCH', `/streams/${other}`, { new_name: before });
    const taken = await realm.owner.patch(`/streams/${other}`, { new_name: after.toUpperCase() });
    expect([taken.status, taken.body.code]).toEqual(badRequest);
    expect(refused(await realm.owner.patch(`/streams/${other}`, { new_name: before }))).toEqual(badRequest);
    await realm.owner.ok('PATCH', `/streams/${other}`, { new_name: before.toUpperCase() });
  });

  test('sends a change of history as two properties, and lets only a private channel hide its history', async () => {
    const id = await channel(realm.owner, [realm.owner, realm.member], { invite_only: true });
    const { told } = await change(id, { history_public_to_subscribers: true });
    expect(told).toMatchObject([
      { property: 'invite_only', value: true, history_public_to_subscribers: true, is_web_public: false },
      { property: 'history_public_to_subscribers', value: true },
    ]);
    for (const form of [
      { is_private: false, history_public_to_subscribers: false },
      { is_private: true, is_web_public: true },
      { is_web_public: true, history_public_to_subscribers: false },
    ])
      expect(refused(await realm.owner.patch(`/streams/${id}`, form)), JSON.stringify(form)).toEqual(badRequest);
  });

  test('sets and removes the folder of a channel', async () => {
    const { channel_folder_id: folder } = await realm.owner.ok('POST', '/channel_folders/create', {
      name: freshName(),
    });
    const id = await channel(realm.owner, [realm.member]);
    expect((await change(id, { folder_id: folder })).told).toMatchObject([{ property: 'folder_id', value: folder }]);
    expect((await change(id, { folder_id: null })).read.folder_id).toBeNull();
    expect(refused(await realm.owner.patch(`/streams/${id}`, { folder_id: 999_999 }))).toEqual(badRequest);
  });

  test('changes each permission to {new}, and only if {old} is the stored value', async () => {
    const names = [
      'can_add_subscribers_group',
      'can_remove_subscribers_group',
      'can_administer_channel_group',
      'can_delete_any_message_group',
      'can_delete_own_message_group',
      'can_move_messages_out_of_channel_group',
      'can_move_messages_within_channel_group',
      'can_subscribe_group',
      'can_resolve_topics_group',
      'can_send_message_group',
    ];
    const id = await channel(realm.owner, [realm.owner, realm.member]);
    const value = { direct_members: [realm.member.user_id], direct_subgroups: [groups['role:moderators']] };
    for (const name of names) {
      const { told, read } = await change(id, { [name]: { new: value } });
      expect(told, name).toMatchObject([{ property: name, value }]);
      expect(read[name], name).toEqual(value);
      const wrong = await realm.owner.patch(`/streams/${id}`, {
        [name]: { new: groups['role:moderators'], old: groups['role:owners'] },
      });
      expect([wrong.status, wrong.body.code], name).toEqual([400, 'EXPECTATION_MISMATCH']);
      await realm.owner.ok('PATCH', `/streams/${id}`, {
        [name]: { new: { direct_members: [], direct_subgroups: [groups['role:moderators']] }, old: value },
      });
      expect((await streamOf(realm.owner, id))[name], name).toBe(groups['role:moderators']);
    }
  });

  test('also sends can_send_message_group in its deprecated forms', async () => {
    const id = await channel(realm.owner, [realm.member]);
    const { told } = await change(id, { can_send_message_group: { new: groups['role:administrators'] } });
    expect(told.map(({ property, value }) => [property, value])).toEqual([
      ['can_send_message_group', groups['role:administrators']],
      ['stream_post_policy', 2],
      ['is_announcement_only', true],
    ]);
    const policyOf = async (value: unknown) =>
      (await change(id, { can_send_message_group: { new: value } })).read.stream_post_policy;
    expect(await policyOf(groups['role:fullmembers'])).toBe(3);
    expect(await policyOf(groups['role:moderators'])).toBe(4);
    expect(await policyOf({ direct_members: [realm.member.user_id], direct_subgroups: [] })).toBe(1);
  });

  test('accepts empty_topic_only only if no message is in a named topic (4.3)', async () => {
    const { owner, member } = realm;
    const id = await channel(owner, [owner, member]);
    const only = { topics_policy: 'empty_topic_only' };
    // The notice of its creation does not prevent the change.
    await owner.ok('PATCH', `/streams/${id}`, only);
    await owner.ok('PATCH', `/streams/${id}`, { topics_policy: 'inherit' });
    const { id: message } = await owner.ok('POST', '/messages', {
      type: 'channel',
      to: id,
      topic: 'named',
      content: 'one',
    });
    expect(refused(await owner.patch(`/streams/${id}`, only))).toEqual(badRequest);
    // A caller who may not make the change does not learn why it is impossible.
    expect(refused(await member.patch(`/streams/${id}`, only))).toEqual(badRequest);
    await owner.ok('DELETE', `/messages/${message}`);
    await owner.ok('POST', '/messages', { type: 'channel', to: id, topic: '', content: 'two' });
    expect((await change(id, only)).told).toMatchObject([{ property: 'topics_policy', value: 'empty_topic_only' }]);
  });

  test('does not send events for unchanged values', async () => {
    const id = await channel(realm.owner, [realm.member]);
    const queue = await realm.member.queue({ event_types: ['stream', 'default_streams'] });
    await realm.owner.ok('PATCH', `/streams/${id}`, {
      description: '',
      is_private: false,
      topics_policy: 'inherit',
      is_default_stream: false,
      can_subscribe_group: { new: groups['role:nobody'] },
    });
    await realm.owner.ok('PATCH', `/streams/${id}`, {});
    await realm.owner.ok('PATCH', `/streams/${id}`, { description: 'end' });
    await queue.next((event) => event.value === 'end');
    expect(queue.seen).toHaveLength(1);
  });

  test.each([
    [{ new_name: '' }],
    [{ new_name: 'x'.repeat(61) }],
    [{ description: 'x'.repeat(1025) }],
    [{ message_retention_days: -3 }],
    [{ topics_policy: 'some' }],
    [{ can_subscribe_group: { new: 999_999 } }],
    [{ can_subscribe_group: 3 }],
    [{ is_default_stream: true, is_private: true }],
    [{ is_private: 'yes' }],
  ])('refuses %j', async (form) => {
    const id = await channel(realm.owner);
    expect((await realm.owner.patch(`/streams/${id}`, form)).status).toBe(400);
    expect(await streamOf(realm.owner, id)).toMatchObject({ description: '', invite_only: false });
  });

  test('returns a permission error to users who can see the channel but not administer it', async () => {
    const id = await channel(realm.owner);
    for (const who of ['moderator', 'member'] as const) {
      expect(refused(await realm[who].patch(`/streams/${id}`, { description: 'x' })), who).toEqual(badRequest);
      const { status, body } = await realm[who].delete(`/streams/${id}`);
      expect([status, body.code, body.msg], who).toEqual([
        ...badRequest,
        'You do not have permission to administer this channel.',
      ]);
    }
    expect((await realm.guest.patch(`/streams/${id}`, { description: 'x' })).body.msg).toBe('Invalid channel ID');
  });

  test('lets administrators without content access change settings, except those that open the content', async () => {
    const id = await channel(realm.member, [realm.member], { invite_only: true });
    const { administrator } = realm;
    for (const name of ['can_remove_subscribers_group', 'can_administer_channel_group', 'can_send_message_group'])
      expect(
        (await administrator.patch(`/streams/${id}`, { [name]: { new: groups['role:moderators'] } })).status,
        name,
      ).toBe(200);
    expect((await administrator.patch(`/streams/${id}`, { description: 'by the administrator' })).status).toBe(200);
    const closed: Json[] = [
      { is_private: false },
      { is_web_public: true },
      { history_public_to_subscribers: true },
      ...[
        'can_add_subscribers_group',
        'can_subscribe_group',
        'can_delete_any_message_group',
        'can_delete_own_message_group',
        'can_move_messages_out_of_channel_group',
        'can_move_messages_within_channel_group',
      ].map((name) => ({ [name]: { new: groups['role:members'] } })),
    ];
    for (const form of closed)
      expect(refused(await administrator.patch(`/streams/${id}`, form)), JSON.stringify(form)).toEqual(badRequest);
  });

  test('lets only owners change retention', async () => {
    const id = await channel(realm.administrator);
    expect(refused(await realm.administrator.patch(`/streams/${id}`, { message_retention_days: 5 }))).toEqual(
      badRequest,
    );
    expect((await realm.owner.patch(`/streams/${id}`, { message_retention_days: 5 })).status).toBe(200);
  });

  test('hides a channel that becomes private from others, and shows it with its subscribers when it is public again', async () => {
    const { owner, member, member2 } = realm;
    const id = await channel(owner, [owner, member]);
    const queue = await member2.queue({ event_types: ['stream', 'subscription'] });
    await owner.ok('PATCH', `/streams/${id}`, { is_private: true });
    expect(await queue.next((event) => event.type === 'stream')).toMatchObject({ op: 'delete', stream_ids: [id] });
    expect(await standing(member2, id)).toBe('unknown');
    await owner.ok('PATCH', `/streams/${id}`, { is_private: false });
    await queue.next((event) => event.op === 'peer_add');
    expect(queue.seen.slice(1)).toMatchObject([
      { op: 'create', streams: [{ stream_id: id, invite_only: false }] },
      { op: 'peer_add', stream_ids: [id], user_ids: [owner.user_id, member.user_id] },
    ]);
    expect(await standing(member2, id)).toBe('never_subscribed');
  });

  test('shows a private channel to the members of a group that receives the right to add subscribers', async () => {
    const { owner, member2 } = realm;
    const id = await channel(owner, [owner], { invite_only: true });
    const friends = await group(realm, [member2]);
    const queue = await member2.queue({ event_types: ['stream'] });
    await owner.ok('PATCH', `/streams/${id}`, { can_add_subscribers_group: { new: friends } });
    expect(await queue.next((event) => event.op === 'create')).toMatchObject({ streams: [{ stream_id: id }] });
    await owner.ok('PATCH', `/streams/${id}`, { can_add_subscribers_group: { new: groups['role:nobody'] } });
    expect(await queue.next((event) => event.op === 'delete')).toMatchObject({ stream_ids: [id] });
  });
});

describe('an archived channel', () => {
  const modern = { client_capabilities: { archived_channels: true, notification_settings_null: true } };

  test('is updated for clients with archived_channels, and deleted and created again for others', async () => {
    const { owner, member } = realm;
    const id = await channel(owner, [member]);
    const name = await nameOf(owner, id);
    const types = { event_types: ['stream', 'subscription'] };
    const [knowing, old] = [await member.queue({ ...types, ...modern }), await member.queue(types)];
    await owner.ok('DELETE', `/streams/${id}`);
    await owner.ok('PATCH', `/streams/${id}`, { is_archived: false });
    await knowing.next((event) => event.property === 'is_archived' && event.value === false);
    await old.next((event) => event.type === 'subscription' && event.op === 'add');
    expect(knowing.seen).toMatchObject([
      { op: 'update', stream_id: id, name, property: 'is_archived', value: true },
      { op: 'update', stream_id: id, property: 'is_archived', value: false },
    ]);
    expect(old.seen).toMatchObject([
      { type: 'subscription', op: 'remove', subscriptions: [{ stream_id: id, name }] },
      { type: 'stream', op: 'delete', stream_ids: [id] },
      { type: 'stream', op: 'create', streams: [{ stream_id: id, is_archived: false }] },
      { type: 'subscription', op: 'add', subscriptions: [{ stream_id: id, subscribers: [member.user_id] }] },
    ]);
  });

  test('is in the register only for clients with archived_channels', async () => {
    const id = await channel(realm.owner, [realm.member]);
    await realm.owner.ok('DELETE', `/streams/${id}`);
    const ids = async (form: Json) =>
      (
        await realm.member.ok('POST', '/register', { fetch_event_types: ['subscription', 'stream'], ...form })
      ).streams.map(({ stream_id }: Json) => stream_id);
    expect(await ids(modern)).toContain(id);
    expect(await ids({})).not.toContain(id);
    expect(await streamOf(realm.member, id)).toMatchObject({ is_archived: true });
  });

  test('hides its topics, drafts and unread messages from clients without archived_channels until it is restored', async () => {
    const { owner, member } = realm;
    const id = await channel(owner, [member, owner]);
    const name = await nameOf(owner, id);
    const sent = await owner.ok('POST', '/messages', { type: 'channel', to: id, topic: 'left', content: 'unread' });
    const direct = await owner.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content: 'unread too' });
    await member.ok('POST', '/user_topics', { stream_id: id, topic: 'left', visibility_policy: 1 });
    const draft = { type: 'stream', to: [id], topic: 'left', content: 'unsent' };
    const drafts = [draft, { ...draft, type: 'private', to: [owner.user_id], topic: '' }];
    const [draftId, other] = (await member.ok('POST', '/drafts', { drafts })).ids;
    const wanted = ['message', 'update_message_flags', 'user_topic', 'drafts'];
    const known = async (form: Json) => {
      const state = await member.ok('POST', '/register', { fetch_event_types: wanted, ...form });
      const muted = await member.ok('POST', '/register', { fetch_event_types: ['muted_topics'] });
      const { streams, pms, count } = state.unread_msgs;
      const listed = [...streams, ...pms].flatMap((one: Json) => one.unread_message_ids);
      return {
        unread: streams.some((one: Json) => one.unread_message_ids.includes(sent.id)),
        direct: pms.some((one: Json) => one.unread_message_ids.includes(direct.id)),
        // The topic is muted.
        isCounted: count === listed.filter((one) => one !== sent.id).length,
        topic: state.user_topics.some((one: Json) => one.stream_id === id),
        muted: muted.muted_topics.some((one: Json) => one[0] === name),
        draft: state.drafts.some((one: Json) => one.id === draftId),
        other: state.drafts.some((one: Json) => one.id === other),
      };
    };
    const all = { unread: true, direct: true, isCounted: true, topic: true, muted: true, draft: true, other: true };
    expect(await known({})).toEqual(all);
    await owner.ok('DELETE', `/streams/${id}`);
    expect(await known({})).toEqual({ ...all, unread: false, topic: false, muted: false, draft: false });
    expect(await known(modern)).toEqual({ ...all, muted: false });
    // A register that left the messages out does not make them read.
    await owner.ok('PATCH', `/streams/${id}`, { is_archived: false });
    expect(await known({})).toEqual(all);
  });

  test('frees its name, and cannot be restored while the name is taken', async () => {
    const { owner } = realm;
    const id = await channel(owner);
    const name = await nameOf(owner, id);
    await owner.ok('DELETE', `/streams/${id}`);
    expect(refused(await owner.delete(`/streams/${id}`))).toEqual(badRequest);
    const { id: other } = await owner.ok('POST', '/channels/create', { name, subscribers: [] });
    expect(refused(await owner.patch(`/streams/${id}`, { is_archived: false }))).toEqual(badRequest);
    await owner.ok('DELETE', `/streams/${other}`);
    await owner.ok('PATCH', `/streams/${id}`, { is_archived: false });
    expect(refused(await owner.patch(`/streams/${id}`, { is_archived: false }))).toEqual(badRequest);
  });

  test('is removed from the default channels, and users can still change their settings of it', async () => {
    const { owner, member } = realm;
    const id = await channel(owner, [member], { is_default_stream: true });
    const queue = await member.queue({ event_types: ['default_streams'] });
    await owner.ok('DELETE', `/streams/${id}`);
    expect((await queue.next((event) => event.type === 'default_streams')).default_streams).not.toContain(id);
    await member.ok('PATCH', `/users/me/subscriptions/${id}`, { property: 'color', value: '#010203' });
    const { subscriptions } = await member.ok('POST', '/register', { fetch_event_types: ['subscription'], ...modern });
    expect(subscriptions.find((one: Json) => one.stream_id === id).color).toBe('#010203');
  });

  test('cannot be joined by its name, and only its administrators can archive it', async () => {
    const { member, member2 } = realm;
    const id = await channel(member, [member]);
    const name = await nameOf(member, id);
    expect(refused(await member2.delete(`/streams/${id}`))).toEqual(badRequest);
    await member.ok('DELETE', `/streams/${id}`);
    // The name is free, so a new channel takes it.
    await member2.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }] });
    expect((await member2.ok('GET', '/get_stream_id', { stream: name })).stream_id).not.toBe(id);
  });
});

test('sending a message updates first_message_id and is_recently_active of its channel', async () => {
  const { owner, member } = realm;
  const id = await channel(owner, [owner, member]);
  const queue = await member.queue({ event_types: ['stream'] });
  const send = async () =>
    (await owner.ok('POST', '/messages', { type: 'channel', to: id, topic: 'figures', content: 'one' })).id;
  const first = await send();
  expect(await queue.next((event) => event.property === 'first_message_id')).toMatchObject({
    stream_id: id,
    value: first,
  });
  await send();
  expect(await streamOf(member, id)).toMatchObject({ first_message_id: first, is_recently_active: true });
});
