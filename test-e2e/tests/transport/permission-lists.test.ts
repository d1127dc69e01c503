import { type Answer, connected, copyRow, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

/** Every client of a realm receives the permissions of all its channels and groups. */
let realm: Realm;
let everybody: number[];
beforeAll(async () => {
  realm = await openRealm();
  const people = [];
  for (let round = 0; round < 34; round++)
    people.push(...(await Promise.all(Array.from({ length: 5 }, () => realm.person()))));
  everybody = people.map(({ user_id }) => user_id);
});

const ofChannels = [
  ...['can_add_subscribers_group', 'can_administer_channel_group', 'can_delete_any_message_group'],
  ...['can_delete_own_message_group', 'can_move_messages_out_of_channel_group', 'can_resolve_topics_group'],
  ...['can_move_messages_within_channel_group', 'can_remove_subscribers_group', 'can_send_message_group'],
  ...['can_subscribe_group', 'can_create_topic_group'],
];
const ofGroups = [
  ...['can_add_members_group', 'can_join_group', 'can_leave_group', 'can_manage_group'],
  ...['can_mention_group', 'can_remove_members_group'],
];
const namedBy = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { direct_members: everybody, direct_subgroups: [] }]));
const refusalOf = ({ status, body }: Answer) => [status, body.msg];

const changeable = [
  'can_add_subscribers_group',
  'can_remove_subscribers_group',
  'can_send_message_group',
  'can_subscribe_group',
];
const changed = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { new: { direct_members: everybody, direct_subgroups: [] } }]));

test('long permissions count for the member who wrote them, even in channels and groups of others', async () => {
  const { owner, member } = realm;
  const only = { direct_members: [member.user_id], direct_subgroups: [] };
  const channels: number[] = [];
  for (const name of ['one', 'two', 'three']) {
    await owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      can_administer_channel_group: only,
    });
    channels.push((await owner.ok('GET', '/get_stream_id', { stream: name })).stream_id);
  }
  const change = (who: typeof member, index: number) => who.patch(`/streams/${channels[index]}`, changed(changeable));
  expect((await change(member, 0)).status).toBe(200);
  const where = `realm_id = ${realm.id} AND name = 'one'`;
  await copyRow({ table: 'channels.channel', where }, 250, { name: "'administered ' || n" });
  expect(refusalOf(await change(member, 1))).toEqual([400, 'Too much text in channels of one user (limit: 512 KiB)']);
  expect((await change(owner, 2)).status).toBe(200);
  await member.ok('PATCH', `/streams/${channels[2]}`, { can_subscribe_group: { new: only } });

  const groups: number[] = [];
  for (const name of ['group one', 'group two']) {
    const form = { name, description: '', members: [], can_manage_group: only };
    groups.push((await owner.ok('POST', '/user_groups/create', form)).group_id);
  }
  const names = ofGroups.filter((name) => name !== 'can_manage_group');
  const changeGroup = (who: typeof member, index: number) => who.patch(`/user_groups/${groups[index]}`, changed(names));
  expect((await changeGroup(member, 0)).status).toBe(200);
  const ofGroup = `realm_id = ${realm.id} AND name = 'group one'`;
  await copyRow({ table: 'users.user_group', where: ofGroup }, 250, { name: "'managed ' || n" });
  const full = [400, 'Too much text in user groups of one user (limit: 512 KiB)'];
  expect(refusalOf(await changeGroup(member, 1))).toEqual(full);
  expect((await changeGroup(owner, 1)).status).toBe(200);
});

test('the users in permissions of channels are limited for one request and for all channels', async () => {
  const create = (names: string[]) =>
    realm.owner.post('/users/me/subscriptions', {
      subscriptions: names.map((name) => ({ name })),
      ...namedBy(ofChannels),
    });
  expect(refusalOf(await create(Array.from({ length: 200 }, (_, index) => `at once ${index}`)))).toEqual([
    400,
    'The permissions of the channels name too many users. Create fewer channels at once.',
  ]);
  expect((await create(['first'])).status).toBe(200);
  const where = `realm_id = ${realm.id} AND name = 'first'`;
  await copyRow({ table: 'channels.channel', where }, 2_000, { name: "'copy ' || n" });
  const full = [400, 'Too much text in channels (limit: 4096 KiB)'];
  expect(refusalOf(await create(['second']))).toEqual(full);
  const { stream_id } = await realm.owner.ok('GET', '/get_stream_id', { stream: 'first' });
  const fewer = { new: { direct_members: everybody.slice(1), direct_subgroups: [] } };
  const smaller = await realm.owner.patch(`/streams/${stream_id}`, { can_send_message_group: fewer });
  expect(refusalOf(smaller)).toEqual(full);
  // A list of few users has room.
  await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'usual' }] });
});

test('the users in permissions of all groups are limited', async () => {
  const add = (name: string) =>
    realm.owner.post('/user_groups/create', { name, description: '', members: [], ...namedBy(ofGroups) });
  const { status, body } = await add('first');
  expect(status).toBe(200);
  const where = `realm_id = ${realm.id} AND name = 'first'`;
  await copyRow({ table: 'users.user_group', where }, 8_000, { name: "'copy ' || n" });
  const full = [400, 'Too much text in user groups (limit: 4096 KiB)'];
  expect(refusalOf(await add('second'))).toEqual(full);
  const fewer = { new: { direct_members: everybody.slice(1), direct_subgroups: [] } };
  expect(refusalOf(await realm.owner.patch(`/user_groups/${body.group_id}`, { can_join_group: fewer }))).toEqual(full);
});

test('the users in permissions of an organization are limited', async () => {
  const { id, owner, member } = await openRealm();
  const account = { table: 'users.account', where: `id = ${member.user_id}` };
  await copyRow(account, 7_000, { email: "'copy' || n || '@many.example'" });
  const rows = await connected((client) =>
    client.query<{ id: number }>(`SELECT id FROM users.account WHERE realm_id = ${id} AND email LIKE 'copy%'`),
  );
  const all = { new: { direct_members: rows.rows.map((row) => row.id), direct_subgroups: [] } };
  const change = (...names: string[]) => owner.patch('/realm', Object.fromEntries(names.map((name) => [name, all])));
  const names = [
    'can_add_custom_emoji_group',
    'can_create_groups',
    'can_create_bots_group',
    'can_resolve_topics_group',
  ];
  const full = [400, 'The permissions of the organization name too many users. Use user groups.'];
  expect(refusalOf(await change(...names, 'can_invite_users_group', 'can_summarize_topics_group'))).toEqual(full);
  expect((await change('can_create_groups')).status).toBe(200);
  expect(refusalOf(await change(...names, 'can_invite_users_group', 'can_summarize_topics_group'))).toEqual(full);
});
