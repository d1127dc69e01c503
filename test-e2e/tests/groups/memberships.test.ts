import { type Client, copyRow, countOf, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

/** A user is in at most 1,000 groups, directly or through subgroups. */
let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

let count = 0;
const create = async (form: Json = {}, who: Client = realm.owner): Promise<number> =>
  (await who.ok('POST', '/user_groups/create', { name: `own ${++count}`, description: '', members: [], ...form }))
    .group_id;
const everyone = async (): Promise<number> =>
  (await realm.owner.ok('GET', '/user_groups')).user_groups.find(
    ({ name }: { name: string }) => name === 'role:everyone',
  ).id;

/** Copies a group that contains `role:everyone`, so that this group is in `total` groups, itself included. */
async function nestEveryone(total: number): Promise<void> {
  const everyoneId = await everyone();
  const first = await create({ subgroups: [everyoneId] });
  const around = await countOf(
    'users.group_subgroup',
    `subgroup_id = ${everyoneId} AND group_id IN (SELECT id FROM users.user_group WHERE realm_id = ${realm.id})`,
  );
  const copies = total - around - 1;
  await copyRow({ table: 'users.user_group', where: `id = ${first}` }, copies, { name: "'copy ' || n" });
  const newest = `(SELECT max(id) FROM users.user_group WHERE realm_id = ${realm.id})`;
  await copyRow({ table: 'users.group_subgroup', where: `group_id = ${first}` }, copies, {
    group_id: `${newest} - n + 1`,
  });
}

test('a group that brings a user into more than 1,000 groups is refused, and nothing is committed', async () => {
  const everyoneId = await everyone();
  await nestEveryone(998);
  const before = await countOf('users.user_group', `realm_id = ${realm.id}`);
  const text = 'A user can be in at most 1000 user groups, directly or through other groups.';
  const refuse = async (who: Client, path: string, form: Json): Promise<void> => {
    const { status, body } = await who.post(path, form);
    expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', text]);
  };
  // Members are in `role:members` and `role:fullmembers` too, so that they are in 1,000 groups.
  const nested = { name: 'nested', description: '', members: [], subgroups: [everyoneId] };
  await refuse(realm.member, '/user_groups/create', nested);
  const joined = { name: 'joined', description: '', members: [realm.member2.user_id] };
  await refuse(realm.member, '/user_groups/create', joined);
  expect(await countOf('users.user_group', `realm_id = ${realm.id}`)).toBe(before);
  const empty = await create();
  await refuse(realm.owner, `/user_groups/${empty}/members`, { add: [realm.member.user_id] });
  await refuse(realm.owner, `/user_groups/${empty}/subgroups`, { add: [everyoneId] });
  await refuse(realm.owner, `/user_groups/${empty}/members`, { add_subgroups: [everyoneId] });
  // A guest is in fewer groups.
  await realm.owner.ok('POST', `/user_groups/${empty}/members`, { add: [realm.guest.user_id] });
  await realm.owner.ok('POST', `/user_groups/${empty}/deactivate`);
  const other = await create({ members: [realm.guest.user_id] });
  const another = await create({ members: [realm.guest.user_id] });
  expect([other, another]).not.toContain(empty);
  const back = await realm.owner.patch(`/user_groups/${empty}`, { deactivated: false });
  expect([back.status, back.body.msg]).toEqual([400, text]);
});
