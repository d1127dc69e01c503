import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const groupsOf = async (client: Client): Promise<Json[]> => (await client.ok('GET', '/user_groups')).user_groups;
const named = async (name: string): Promise<Json> => (await groupsOf(realm.owner)).find((group) => group.name === name);

test('a new realm has eight nested system groups in a fixed order', async () => {
  const groups = await groupsOf(realm.member);
  const names = groups.map((group) => group.name);
  expect(names).toEqual([
    'role:nobody',
    'role:owners',
    'role:administrators',
    'role:moderators',
    'role:fullmembers',
    'role:members',
    'role:everyone',
    'role:internet',
  ]);
  const ids = groups.map((group) => group.id);
  expect([...ids].sort((a, b) => a - b)).toEqual(ids);
  expect(groups.map((group) => group.direct_subgroup_ids)).toEqual([
    [],
    [],
    [ids[1]],
    [ids[2]],
    [ids[3]],
    [ids[4]],
    [ids[5]],
    [ids[6]],
  ]);
  for (const group of groups) {
    expect(group).toMatchObject({ is_system_group: true, deactivated: false, can_mention_group: ids[0] });
    expect([group.can_manage_group, group.can_add_members_group, group.can_join_group, group.can_leave_group]).toEqual([
      ids[0],
      ids[0],
      ids[0],
      ids[0],
    ]);
  }
});

test('a user is a direct member of the system group of their role, and a member also of the full members', async () => {
  const groups = await groupsOf(realm.guest);
  const members = Object.fromEntries(groups.map((group) => [group.name, group.members]));
  expect(members).toEqual({
    'role:nobody': [],
    'role:owners': [realm.owner.user_id],
    'role:administrators': [realm.administrator.user_id],
    'role:moderators': [realm.moderator.user_id],
    'role:fullmembers': [realm.member.user_id, realm.member2.user_id],
    'role:members': [realm.member.user_id, realm.member2.user_id],
    'role:everyone': [realm.guest.user_id],
    'role:internet': [],
  });
});

test('a role change moves the user between system groups with remove_members and add_members', async () => {
  const person = await realm.person({ role: 'guest' });
  const queue = await realm.guest.queue({ event_types: ['user_group'] });
  await realm.owner.ok('PATCH', `/users/${person.user_id}`, { role: 300 });
  const everyone = await named('role:everyone');
  const moderators = await named('role:moderators');
  await queue.next((event) => event.op === 'add_members');
  expect(queue.seen).toMatchObject([
    { op: 'remove_members', group_id: everyone.id, user_ids: [person.user_id] },
    { op: 'add_members', group_id: moderators.id, user_ids: [person.user_id] },
  ]);
  expect(moderators.members).toContain(person.user_id);
  expect(everyone.members).not.toContain(person.user_id);
});

test('a new account is announced before it joins its system groups', async () => {
  const queue = await realm.guest.queue({ event_types: ['realm_user', 'user_group'] });
  const person = await realm.person();
  await queue.next((event) => event.op === 'add_members' && event.user_ids[0] === person.user_id);
  const members = await named('role:members');
  const full = await named('role:fullmembers');
  while (queue.seen.length < 3) await queue.poll();
  expect(queue.seen.map((event) => [event.type, event.op, event.group_id])).toEqual([
    ['realm_user', 'add', undefined],
    ['user_group', 'add_members', full.id],
    ['user_group', 'add_members', members.id],
  ]);
});

test('a deactivated user is removed from the system groups', async () => {
  const person = await realm.person();
  const queue = await realm.guest.queue({ event_types: ['user_group'] });
  await realm.owner.ok('DELETE', `/users/${person.user_id}`);
  const members = await named('role:members');
  await queue.next((event) => event.op === 'remove_members' && event.group_id === members.id);
  expect(members.members).not.toContain(person.user_id);
});

test('the waiting period decides who is a full member, and a change of the period applies at once', async () => {
  const other = await openRealm();
  const groups = await groupsOf(other.owner);
  const full = groups.find((group) => group.name === 'role:fullmembers');
  const queue = await other.guest.queue({ event_types: ['user_group', 'realm'] });
  await other.owner.ok('PATCH', '/realm', { waiting_period_threshold: 5 });
  const left = await queue.next((event) => event.op === 'remove_members');
  expect(left).toMatchObject({ group_id: full.id, user_ids: [other.member.user_id, other.member2.user_id] });
  const newcomer = await other.person();
  const now = (await groupsOf(other.owner)).find((group) => group.name === 'role:fullmembers');
  expect(now.members).toEqual([]);
  await other.owner.ok('PATCH', '/realm', { waiting_period_threshold: 0 });
  const joined = await queue.next((event) => event.op === 'add_members' && event.group_id === full.id);
  expect(joined.user_ids).toEqual([other.member.user_id, other.member2.user_id, newcomer.user_id]);
});

test('a system group cannot be changed, filled, nested or deactivated', async () => {
  const { id } = await named('role:moderators');
  const attempts = [
    realm.owner.patch(`/user_groups/${id}`, { name: 'mods' }),
    realm.owner.post(`/user_groups/${id}/members`, { add: [realm.guest.user_id] }),
    realm.owner.post(`/user_groups/${id}/subgroups`, { add: [(await named('role:everyone')).id] }),
    realm.owner.post(`/user_groups/${id}/deactivate`),
  ];
  for (const { status, body } of await Promise.all(attempts)) expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
});
