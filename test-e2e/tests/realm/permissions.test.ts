import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let groups: Record<string, number>;
beforeAll(async () => {
  realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  groups = Object.fromEntries(user_groups.map((group: Json) => [group.name, group.id]));
});

/** The default of each permission of a realm, from the table of the reference. */
const defaults: Record<string, string> = {
  create_multiuse_invite_group: 'role:administrators',
  can_access_all_users_group: 'role:everyone',
  can_add_custom_emoji_group: 'role:members',
  can_add_subscribers_group: 'role:members',
  can_create_bots_group: 'role:members',
  can_create_write_only_bots_group: 'role:members',
  can_create_groups: 'role:members',
  can_create_private_channel_group: 'role:members',
  can_create_public_channel_group: 'role:members',
  can_create_web_public_channel_group: 'role:owners',
  can_delete_any_message_group: 'role:administrators',
  can_delete_own_message_group: 'role:everyone',
  can_invite_users_group: 'role:members',
  can_manage_all_groups: 'role:owners',
  can_manage_billing_group: 'role:administrators',
  can_mention_many_users_group: 'role:administrators',
  can_move_messages_between_channels_group: 'role:members',
  can_move_messages_between_topics_group: 'role:everyone',
  can_resolve_topics_group: 'role:everyone',
  can_set_delete_message_policy_group: 'role:moderators',
  can_set_topics_policy_group: 'role:members',
  can_summarize_topics_group: 'role:everyone',
  direct_message_initiator_group: 'role:everyone',
  direct_message_permission_group: 'role:everyone',
};

const group = (name: string): number => groups[name] as number;
const register = (): Promise<Json> => realm.member.ok('POST', '/register', { fetch_event_types: ['realm'] });

test('a new realm has 24 permissions with their defaults', async () => {
  const state = await register();
  const found = Object.fromEntries(Object.keys(defaults).map((name) => [name, state[`realm_${name}`]]));
  expect(found).toEqual(Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, group(value)])));
  expect(Object.keys(state.server_supported_permission_settings.realm).sort()).toEqual(Object.keys(defaults).sort());
});

test.each(Object.keys(defaults))(
  '%s can be changed with {new}, is sent in realm/update_dict and is read back',
  async (name) => {
    const others: Record<string, string> = {
      can_access_all_users_group: 'role:members',
      can_set_delete_message_policy_group: 'role:owners',
    };
    const wanted = others[name] ?? 'role:moderators';
    const queue = await realm.guest.queue({ event_types: ['realm'] });
    await realm.owner.ok('PATCH', '/realm', { [name]: { new: group(wanted) } });
    const event = await queue.next((seen) => seen.op === 'update_dict');
    expect(event).toMatchObject({ type: 'realm', property: 'default', data: { [name]: group(wanted) } });
    expect((await register())[`realm_${name}`]).toBe(group(wanted));
  },
);

test('an anonymous group is stored in ascending order, and as a named group if it contains only that', async () => {
  const set = {
    direct_members: [realm.member2.user_id, realm.member.user_id],
    direct_subgroups: [group('role:owners')],
  };
  await realm.owner.ok('PATCH', '/realm', { can_create_groups: { new: set } });
  expect((await register()).realm_can_create_groups).toEqual({
    direct_members: [realm.member.user_id, realm.member2.user_id],
    direct_subgroups: [group('role:owners')],
  });
  const one = { direct_members: [], direct_subgroups: [group('role:members')] };
  await realm.owner.ok('PATCH', '/realm', { can_create_groups: { new: one } });
  expect((await register()).realm_can_create_groups).toBe(group('role:members'));
});

test('a wrong old value returns EXPECTATION_MISMATCH and changes nothing', async () => {
  const form = { can_create_bots_group: { new: group('role:owners'), old: group('role:nobody') } };
  const { status, body } = await realm.owner.patch('/realm', form);
  expect([status, body.code]).toEqual([400, 'EXPECTATION_MISMATCH']);
  const stored = (await register()).realm_can_create_bots_group;
  await realm.owner.ok('PATCH', '/realm', { can_create_bots_group: { new: group('role:owners'), old: stored } });
  expect((await register()).realm_can_create_bots_group).toBe(group('role:owners'));
});

test('invalid values of permissions are rejected', async () => {
  const other = await openRealm();
  const refused: [Json, string][] = [
    [{ can_create_groups: { new: 999_999 } }, 'BAD_REQUEST'],
    [{ can_create_groups: { new: group('role:internet') } }, 'BAD_REQUEST'],
    [{ can_create_groups: { new: group('role:everyone') } }, 'BAD_REQUEST'],
    [{ can_access_all_users_group: { new: group('role:nobody') } }, 'BAD_REQUEST'],
    [{ can_access_all_users_group: { new: group('role:owners') } }, 'BAD_REQUEST'],
    [{ can_create_web_public_channel_group: { new: group('role:members') } }, 'BAD_REQUEST'],
    [
      { can_create_web_public_channel_group: { new: { direct_members: [realm.owner.user_id], direct_subgroups: [] } } },
      'SYSTEM_GROUP_REQUIRED',
    ],
    [{ can_create_groups: { new: { direct_members: [999_999], direct_subgroups: [] } } }, 'BAD_REQUEST'],
    [{ can_create_groups: { new: { direct_members: [other.owner.user_id], direct_subgroups: [] } } }, 'BAD_REQUEST'],
    [{ can_create_groups: group('role:members') }, 'BAD_REQUEST'],
  ];
  for (const [form, code] of refused) {
    const { status, body } = await realm.owner.patch('/realm', form);
    expect([status, body.code], JSON.stringify(form)).toEqual([400, code]);
  }
});

test('wildcard_mention_policy mirrors can_mention_many_users_group', async () => {
  const queue = await realm.member.queue({ event_types: ['realm'] });
  await realm.owner.ok('PATCH', '/realm', { can_mention_many_users_group: { new: group('role:nobody') } });
  expect((await queue.next((event) => event.op === 'update_dict')).data.wildcard_mention_policy).toBe(6);
  expect((await register()).realm_wildcard_mention_policy).toBe(6);
});

const set = (...people: { user_id: number }[]): Json => ({
  direct_members: people.map(({ user_id }) => user_id).sort((a, b) => a - b),
  direct_subgroups: [],
});

test('permissions are shown without deactivated users, can be changed as shown, and name them again when they return', async () => {
  const { owner, member, member2 } = realm;
  const leaver = await realm.person({ role: 'moderator' });
  const crew = await leaver.ok('POST', '/user_groups/create', { name: 'crew', description: '', members: [] });
  const channel = await leaver.ok('POST', '/channels/create', { name: 'crew', subscribers: [member.user_id] });
  const changes: Record<string, (value: Json) => Promise<Json>> = {
    realm: (can_create_groups) => owner.patch('/realm', { can_create_groups }),
    group: (can_mention_group) => owner.patch(`/user_groups/${crew.group_id}`, { can_mention_group }),
    channel: (can_administer_channel_group) => owner.patch(`/streams/${channel.id}`, { can_administer_channel_group }),
  };
  const change = async (value: Json): Promise<void> => {
    for (const [where, send] of Object.entries(changes))
      expect((await send(value)).body, where).toMatchObject({ msg: '' });
  };
  await change({ new: set(leaver, member) });
  const queue = await member.queue({ event_types: ['realm', 'user_group', 'stream'] });
  const expectShown = async (value: Json, creators: Json): Promise<void> => {
    await queue.next((event) => event.property === 'can_administer_channel_group');
    const told = queue.seen.splice(0).map(({ id: _, ...event }) => event);
    const { group_id } = crew;
    const named = { stream_id: channel.id, name: 'crew' };
    expect(told).toEqual(
      expect.arrayContaining([
        { type: 'realm', op: 'update_dict', property: 'default', data: { can_create_groups: value } },
        { type: 'user_group', op: 'update', group_id, data: expect.objectContaining({ can_mention_group: value }) },
        { type: 'stream', op: 'update', ...named, property: 'can_administer_channel_group', value },
      ]),
    );
    const state = await member.ok('POST', '/register', { fetch_event_types: ['realm', 'realm_user_groups', 'stream'] });
    const { user_groups } = await member.ok('GET', '/user_groups');
    const { stream } = await member.ok('GET', `/streams/${channel.id}`);
    expect(state.realm_can_create_groups).toEqual(value);
    for (const list of [state.realm_user_groups, user_groups])
      expect(list.find(({ id }: Json) => id === group_id)).toMatchObject({
        can_mention_group: value,
        can_manage_group: creators,
      });
    for (const one of [stream, state.streams.find(({ stream_id }: Json) => stream_id === channel.id)])
      expect(one.can_administer_channel_group).toEqual(value);
  };

  await owner.ok('DELETE', `/users/${leaver.user_id}`);
  await expectShown(set(member), set());
  for (const [where, send] of Object.entries(changes))
    expect((await send({ old: set(member2), new: set(member2) })).body.code, where).toBe('EXPECTATION_MISMATCH');
  await change({ old: set(member), new: set(member, member2) });
  await expectShown(set(member, member2), set());
  // A client that read the value before the deactivation.
  await change({ old: set(leaver, member, member2), new: set(leaver, member2) });
  await expectShown(set(member2), set());

  await owner.ok('POST', `/users/${leaver.user_id}/reactivate`);
  await expectShown(set(leaver, member2), set(leaver));
});

test('a group as the new value of a permission replaces the deactivated users of the former value', async () => {
  const { owner, member } = realm;
  const leaver = await realm.person();
  await owner.ok('PATCH', '/realm', { can_create_groups: { new: set(leaver, member) } });
  await owner.ok('DELETE', `/users/${leaver.user_id}`);
  const wanted = { old: set(member), new: group('role:members') };
  await owner.ok('PATCH', '/realm', { can_create_groups: wanted });
  await owner.ok('POST', `/users/${leaver.user_id}/reactivate`);
  expect((await register()).realm_can_create_groups).toBe(group('role:members'));
});

test('bots are shown in permissions until they or their owners are deactivated', async () => {
  const { owner } = realm;
  const keeper = await realm.person();
  await owner.ok('PATCH', '/realm', { can_create_bots_group: { new: group('role:members') } });
  const bot = await keeper.ok('POST', '/bots', { full_name: 'Keeper', short_name: 'keeper', bot_type: 1 });
  await owner.ok('PATCH', '/realm', { can_create_groups: { new: set(bot, owner) } });
  const queue = await realm.member.queue({ event_types: ['realm'] });
  await owner.ok('DELETE', `/users/${keeper.user_id}`);
  expect((await queue.next(({ op }) => op === 'update_dict')).data).toEqual({ can_create_groups: set(owner) });
});
