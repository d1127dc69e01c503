import { type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('the narrow of a queue does not match an unknown sender by their real address', async () => {
  const realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  const { id } = user_groups.find((group: Json) => group.name === 'role:members');
  await realm.owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: id } });
  const guest = await realm.person({ role: 'guest' });
  const stranger = await realm.person();
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'board' }],
    principals: [realm.owner.user_id, guest.user_id],
  });
  const queueOf = (address: string) =>
    guest.queue({ event_types: ['message', 'drafts'], fetch_event_types: [], narrow: [['sender', address]] });
  const [byReal, byNominal] = [await queueOf(stranger.email), await queueOf(`user${stranger.user_id}@${realm.host}`)];
  await stranger.ok('POST', '/messages', { type: 'channel', to: 'board', topic: 'notices', content: 'moved' });
  const { message } = await byNominal.next(({ type }) => type === 'message');
  expect(message.sender_full_name).toBe('Unknown user');
  await guest.ok('POST', '/drafts', { drafts: [{ type: '', to: [], topic: '', content: 'later' }] });
  await byReal.next(({ type }) => type === 'drafts');
  expect(byReal.seen.filter(({ type }) => type === 'message')).toEqual([]);
});
