import { besideOthers, connected, copyRow, type Json, openRealm, type Realm } from '@natter/testkit';
import { expect, test } from 'vitest';

const groupNamed = async ({ owner }: Realm, name: string): Promise<number> =>
  (await owner.ok('GET', '/user_groups')).user_groups.find((group: Json) => group.name === name).id;

/** Sets whom guests of the realm see. */
const limitTo = async (realm: Realm, name: string) =>
  realm.owner.patiently('PATCH', '/realm', { can_access_all_users_group: { new: await groupNamed(realm, name) } });

const idsWhere = (realm: Realm, condition: string): Promise<number[]> =>
  connected(async (client) => {
    const { rows } = await client.query<{ id: number }>(
      `SELECT id FROM users.account WHERE realm_id = ${realm.id} AND NOT is_system_bot AND ${condition} ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  });

const addAccounts = (person: { user_id: number }, count: number, domain: string) =>
  copyRow({ table: 'users.account', where: `id = ${person.user_id}` }, count, {
    email: `'copy' || n || '@${domain}'`,
  });

async function addGroups(realm: Realm, count: number, members: readonly number[]): Promise<void> {
  const form = { name: 'original', description: '', members: [realm.member.user_id] };
  const { group_id } = await realm.owner.ok('POST', '/user_groups/create', form);
  await copyRow({ table: 'users.user_group', where: `id = ${group_id}` }, count, { name: "'copy ' || n" });
  await connected((client) =>
    client.query(
      `INSERT INTO users.group_member (group_id, user_id) SELECT g.id, m FROM users.user_group g, unnest($1::int[]) m
       WHERE g.realm_id = ${realm.id} AND g.name LIKE 'copy %'`,
      [members],
    ),
  );
}

test('a limit can start and end with 1,000 guests, thousands of users and 1,000 groups without members', async () => {
  const realm = await openRealm();
  await addAccounts(realm.guest, 1_000, 'guests.example');
  await addAccounts(realm.member, 2_000, 'members.example');
  await addGroups(realm, 1_000, []);
  const known = async (): Promise<Json[]> =>
    (await realm.guest.ok('GET', '/users')).members.filter((user: Json) => user.full_name !== 'Unknown user');
  const before = (await known()).length;
  expect((await besideOthers('/users', () => limitTo(realm, 'role:members'))).status).toBe(200);
  expect(await known()).toMatchObject([{ user_id: realm.guest.user_id }]);
  expect((await besideOthers('/users', () => limitTo(realm, 'role:everyone'))).status).toBe(200);
  expect((await known()).length).toBe(before);
});

test('a limit is rejected if each guest sees other members of many groups', async () => {
  const realm = await openRealm();
  await addAccounts(realm.guest, 1_000, 'guests.example');
  await addGroups(realm, 100, await idsWhere(realm, 'role = 600'));
  const { status, body } = await besideOthers('/users', () => limitTo(realm, 'role:members'));
  expect([status, body.code, body.msg]).toEqual([
    400,
    'BAD_REQUEST',
    'The organization has too many users, groups and guests to limit which users guests see.',
  ]);
  const { members } = await realm.guest.ok('GET', '/users');
  expect(members.filter((user: Json) => user.full_name === 'Unknown user')).toEqual([]);
});

test('a thousand guests who leave a channel together can no longer see its members', async () => {
  const realm = await openRealm();
  await addAccounts(realm.guest, 1_000, 'guests.example');
  await addAccounts(realm.member, 2_000, 'members.example');
  await addGroups(realm, 1_000, []);
  const channel = { name: 'shared', subscribers: [realm.guest.user_id, realm.member.user_id] };
  const { id } = await realm.owner.ok('POST', '/channels/create', channel);
  await connected(async (client) => {
    await client.query(`INSERT INTO channels.person
      SELECT (jsonb_populate_record(p, jsonb_build_object('user_id', a.id, 'email', a.email, 'role', a.role))).*
      FROM channels.person p, users.account a
      WHERE p.user_id = ${realm.member.user_id} AND a.realm_id = ${realm.id} AND a.email LIKE 'copy%'`);
    await client.query(`INSERT INTO channels.subscription
      SELECT (jsonb_populate_record(s, jsonb_build_object('user_id', a.id))).* FROM channels.subscription s, users.account a
      WHERE s.channel_id = ${id} AND s.user_id = ${realm.member.user_id} AND a.realm_id = ${realm.id} AND a.email LIKE 'copy%'`);
    await client.query(`UPDATE channels.directory SET stamp = 'copied' WHERE realm_id = ${realm.id}`);
  });
  expect((await limitTo(realm, 'role:members')).status).toBe(200);
  const [guests, people] = [await idsWhere(realm, 'role = 600'), await idsWhere(realm, 'role = 400')];
  const [stranger] = people.slice(-1);
  const seen = async (): Promise<boolean> => (await realm.guest.patiently('GET', `/users/${stranger}`)).status === 200;
  expect(await seen()).toBe(true);
  const queue = await realm.guest.queue({ event_types: ['realm_user'] });
  await realm.owner.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['shared'], principals: guests });
  const isLost = ({ op, person }: Json): boolean => op === 'remove' && person.user_id === stranger;
  await besideOthers('/users', () => queue.next(isLost));
  expect(await seen()).toBe(false);
});

test('a group is rejected if many guests each see different ones of its many members', async () => {
  const realm = await openRealm();
  await addAccounts(realm.guest, 600, 'guests.example');
  await addAccounts(realm.member, 4_000, 'members.example');
  expect((await limitTo(realm, 'role:members')).status).toBe(200);
  const [guests, people] = [await idsWhere(realm, 'role = 600'), await idsWhere(realm, 'role = 400')];
  // Twenty channels divide the members. Each guest shares ten of them, other ones than the next guest.
  await connected((client) =>
    client.query(
      `INSERT INTO users.shared_channel (realm_id, channel_id, user_id)
       SELECT ${realm.id}, 2000000000 + n % 20, id FROM unnest($1::int[]) WITH ORDINALITY p (id, n)
       UNION ALL SELECT ${realm.id}, 2000000000 + c, id FROM unnest($2::int[]) WITH ORDINALITY g (id, n), generate_series(0, 19) c
       WHERE (n::int >> (c / 2)) % 2 = c % 2`,
      [people, guests],
    ),
  );
  const create = (name: string, members: number[]) =>
    realm.owner.patiently('POST', '/user_groups/create', { name, description: '', members });
  const { status, body } = await besideOthers('/users', () => create('all', people));
  expect([status, body.code]).toEqual([413, 'REQUEST_TOO_LARGE']);
  const seen = await realm.guest.queue({ event_types: ['user_group'] });
  const some = people.slice(0, 40);
  expect((await create('some', some)).status).toBe(200);
  const { group } = await seen.next(({ op }) => op === 'add');
  const known = new Set((await realm.guest.ok('GET', `/user_groups/${group.id}/members`)).members);
  expect(known.size).toBe(20);
  expect(group.members).toEqual(some.filter((id) => known.has(id)));
});
