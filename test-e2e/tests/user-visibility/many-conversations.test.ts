import { connected, copyRow, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('a guest of a realm with thousands of conversations knows the other people of the last one', async () => {
  const realm = await openRealm();
  const { owner, member, member2, guest } = realm;
  const friend = await realm.person();
  const write = (content: string, to: number[]) => owner.ok('POST', '/messages', { type: 'direct', to, content });
  const { id } = await write('to a member', [member.user_id]);
  // Sorted before the real ones.
  await copyRow({ table: 'messaging.message', where: `realm_id = ${realm.id} AND id = ${id}` }, 2_500, {
    id: '1000000000 + n',
    conversation: "'0,' || n",
  });
  await friend.ok('POST', '/messages', { type: 'direct', to: [guest.user_id], content: 'hello' });
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const members = user_groups.find(({ name }: Json) => name === 'role:members').id;
  await owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: members } });
  const isKnown = async (): Promise<boolean[]> => {
    const users: Json[] = (await guest.ok('GET', '/users')).members;
    return [friend, member2].map(({ user_id }) => {
      const user = users.find((one) => one.user_id === user_id);
      return user !== undefined && user.full_name !== 'Unknown user';
    });
  };
  await expect.poll(isKnown).toEqual([true, false]);
});

test('a limit that would hide too much at once is refused, and guests go on to see all users', async () => {
  const realm = await openRealm();
  const { owner, member, guest } = realm;
  const form = { name: 'original', description: '', members: [member.user_id] };
  const { group_id } = await owner.ok('POST', '/user_groups/create', form);
  await copyRow({ table: 'users.account', where: `id = ${guest.user_id}` }, 160, {
    email: "'copy' || n || '@many.example'",
  });
  await copyRow({ table: 'users.user_group', where: `id = ${group_id}` }, 170, { name: "'copy ' || n" });
  // Guests who know nobody see each of these groups change.
  await connected((client) =>
    client.query(`INSERT INTO users.group_member (group_id, user_id)
      SELECT id, ${owner.user_id} FROM users.user_group WHERE realm_id = ${realm.id} AND name LIKE 'copy %'`),
  );
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const idOf = (name: string): number => user_groups.find((group: Json) => group.name === name).id;
  const setting = async (): Promise<number> =>
    (await owner.ok('POST', '/register', { fetch_event_types: ['realm'], event_types: [] }))
      .realm_can_access_all_users_group;
  const { status, body } = await owner.patch('/realm', {
    can_access_all_users_group: { new: idOf('role:members') },
  });
  expect([status, body.code, body.msg]).toEqual([
    400,
    'BAD_REQUEST',
    'The organization has too many users, groups and guests to limit which users guests see.',
  ]);
  expect(await setting()).toBe(idOf('role:everyone'));
  const { members } = await guest.ok('GET', '/users');
  expect(members.filter((user: Json) => user.full_name === 'Unknown user')).toEqual([]);
});
