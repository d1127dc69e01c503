import { copyRow, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('a guest in a realm with thousands of conversations sees the other people of the last one', async () => {
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
